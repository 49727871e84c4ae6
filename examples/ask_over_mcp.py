# SPDX-License-Identifier: Apache-2.0
"""Asks `opscope mcp` as an agent does: ask_over_mcp.py RECORDING. Needs the extra `opscope[mcp]`."""

import asyncio
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def ask(session, tool, **arguments):
    answer = await session.call_tool(tool, arguments)
    text = answer.content[0].text
    return {"error": text} if answer.is_error else json.loads(text)


async def main(recording):
    command = ["-m", "opscope", "mcp", recording]
    server = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        for row in (await ask(session, "advise"))["rows"]:
            print(f"{row['kind']}, {row['confidence']} confidence: saves {row['saving_ns']} ns per step")
        slowest = (await ask(session, "steps", sort="duration_ns", limit=1))["rows"][0]
        print(f"the slowest step: {slowest['step']}")
        rows = await ask(session, "summary", steps=slowest["step"], where="kind = operator", sort="self_ns", limit=2)
        print([(row["name"], row["count"]) for row in rows["rows"]])
        counted = await ask(session, "query", sql="SELECT count(*) AS spans FROM spans")
        print(counted["columns"], counted["rows"], counted["quality"])
        print((await ask(session, "query", sql="DROP TABLE spans"))["error"])


asyncio.run(main(sys.argv[1]))
