# An image with exhume and the solvers of its wheels. Nothing requires it: pip installs the same.
#   docker build -t exhume .
#   docker run --rm -v "$PWD:/data" exhume hunt --solver z3 --solver cvc5 --time 10m --out campaign
FROM python:3.12-slim

COPY . /src
RUN python -m pip install --no-cache-dir --constraint /src/constraints.txt "/src[bitwuzla,yices,reduce]" \
    && rm -r /src \
    && useradd --create-home exhume \
    && install -d -o exhume /data
USER exhume
WORKDIR /data
ENTRYPOINT ["exhume"]
