# rocketproof without a clone:  docker run --rm -v "$PWD:/work" rocketproof check trace.jsonl
# To write into that folder:    docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/work" rocketproof …
# With Spark and its Java:      docker build --build-arg EXTRA=spark -t rocketproof:spark .
FROM python:3.12-slim AS build
ARG EXTRA=""
COPY . /source
RUN python -m venv /opt/rocketproof \
 && /opt/rocketproof/bin/pip install --no-cache-dir "/source${EXTRA:+[$EXTRA]}"

FROM python:3.12-slim
ARG EXTRA=""
RUN if [ "$EXTRA" = spark ]; then \
        apt-get update && apt-get install -y --no-install-recommends openjdk-21-jre-headless && rm -rf /var/lib/apt/lists/*; \
    fi \
 && useradd --create-home --uid 10001 rocketproof
COPY --from=build /opt/rocketproof /opt/rocketproof
ENV PATH=/opt/rocketproof/bin:$PATH
USER rocketproof
WORKDIR /work
ENTRYPOINT ["rocketproof"]
CMD ["--help"]
