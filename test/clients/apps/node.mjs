/**
 * An app on Node. Arguments: package name, and `crash` for an app that crashes. The DSN comes from SENTRY_DSN, as SDKs
 * read it.
 */
import { drawConnection, enter, OPTIONS, story } from './story.mjs'

const [, , packageName, action] = process.argv
const Sentry = await import(packageName)

Sentry.init({ ...OPTIONS, dsn: process.env.SENTRY_DSN, release: 'orders@2.4.0' })
enter(Sentry)
if (action === 'crash') {
  setTimeout(drawConnection, 0)
} else {
  story(Sentry)
  const checkInId = Sentry.captureCheckIn(
    { monitorSlug: 'nightly', status: 'in_progress' },
    { schedule: { type: 'crontab', value: '0 3 * * *' }, timezone: 'UTC' },
  )
  Sentry.captureCheckIn({ checkInId, monitorSlug: 'nightly', status: 'ok', duration: 2 })
  await Sentry.close(10_000)
}
