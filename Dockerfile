# Two stages: what builds is not in what runs. What runs needs no root and a root file system that nobody can write.
FROM python:3.12-slim-bookworm AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/nudge
# The locked dependencies first: they change less often than the code.
COPY requirements/run.txt /src/requirements/run.txt
RUN /opt/nudge/bin/pip install --require-hashes -r /src/requirements/run.txt
COPY pyproject.toml README.md LICENSE /src/
COPY src /src/src
# Compiled here, because nothing can be written later.
RUN /opt/nudge/bin/pip install --no-deps /src && /opt/nudge/bin/python -m compileall -q /opt/nudge/lib

FROM python:3.12-slim-bookworm
# git and ssh are for /sync, and only for that.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates git openssh-client \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 10001 nudge \
    && useradd --uid 10001 --gid nudge --home-dir /data --no-create-home --shell /usr/sbin/nologin nudge \
    && install --directory --owner nudge --group nudge --mode 0700 /data \
    && install --directory --owner nudge --group nudge --mode 0750 /config
COPY --from=build /opt/nudge /opt/nudge
COPY --chmod=0755 deploy/entrypoint /usr/local/bin/entrypoint
ENV PATH=/opt/nudge/bin:/usr/local/bin:/usr/bin:/bin \
    HOME=/data \
    NUDGE_HOME=/data \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
VOLUME ["/data", "/config"]
WORKDIR /data
USER 10001:10001
HEALTHCHECK --interval=60s --timeout=10s --start-period=60s CMD ["nudge", "status"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/entrypoint"]
CMD ["nudge", "run"]
