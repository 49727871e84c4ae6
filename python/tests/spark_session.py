# SPDX-License-Identifier: Apache-2.0
"""A session of Spark for the tests, on the loopback."""

import contextlib
import os
import sys

# Tests end before the second compiler of Java pays off. Without it Java has room for 48 MB of compiled code, and
# compiles again and again what it has thrown away for lack of room: then jobs take twice as long.
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.log.level": "ERROR",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": JAVA_OPTIONS,
    "spark.executor.extraJavaOptions": JAVA_OPTIONS,
}


@contextlib.contextmanager
def spark_session(master, **settings):
    """One at a time in a process. The workers of its executors are this Python."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(master)
    for name, value in (SETTINGS | settings).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()
