# SPDX-License-Identifier: Apache-2.0
"""The official client of the Model Context Protocol, without coroutines: for the tests of ``opscope mcp``."""

import contextlib
import os
import sys

from run_command import PACKAGES


def server_command(*files):
    """The command line of the server."""
    return [sys.executable, "-m", "opscope", "mcp", *map(str, files)]


class Client:
    """A session with a server over these files: ``with Client(file) as client: client.call("summary", limit=3)``."""

    def __init__(self, *files):
        self._files = files
        self._open = contextlib.ExitStack()

    def __enter__(self):
        from anyio.from_thread import start_blocking_portal
        from mcp import ClientSession, StdioServerParameters
        from mcp.client.stdio import stdio_client

        program, *arguments = server_command(*self._files)
        paths = os.pathsep.join([PACKAGES, *filter(None, [os.environ.get("PYTHONPATH")])])
        server = StdioServerParameters(command=program, args=arguments, env={**os.environ, "PYTHONPATH": paths})
        self._portal = self._open.enter_context(start_blocking_portal())
        streams = self._open.enter_context(self._portal.wrap_async_context_manager(stdio_client(server)))
        self._session = self._open.enter_context(self._portal.wrap_async_context_manager(ClientSession(*streams)))
        self.greeting = self._run(self._session.initialize)
        return self

    def __exit__(self, *exception):
        return self._open.__exit__(*exception)

    def _run(self, function, *arguments):
        return self._portal.call(function, *arguments)

    def ask(self, tool, **arguments):
        """(whether it is an error, the text) of an answer."""
        result = self._run(self._session.call_tool, tool, arguments)
        (content,) = result.content
        return result.is_error, content.text

    def answer(self, tool, **arguments):
        is_error, text = self.ask(tool, **arguments)
        assert not is_error, text
        return text

    def error(self, tool, **arguments):
        is_error, text = self.ask(tool, **arguments)
        assert is_error, text
        return text

    def tools(self):
        return {tool.name: tool for tool in self._run(self._session.list_tools).tools}

    def resources(self):
        """The addresses."""
        return [str(one.uri) for one in self._run(self._session.list_resources).resources]

    def resource(self, uri):
        """The text at an address."""
        return self._run(self._session.read_resource, uri).contents[0].text
