/** `node --import` this file: the SDK, as an app that is built without it has it. */
import * as Sentry from 'sentry-node-11'

Sentry.init({ dsn: process.env.SENTRY_DSN, release: process.env.SENTRY_RELEASE })
