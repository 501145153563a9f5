/**
 * An app that uses everything an SDK offers, except what its version lacks. Arguments: package name, and `crash` for an
 * app that crashes. The DSN comes from SENTRY_DSN, as SDKs read it.
 */
const [, , packageName, action] = process.argv
const Sentry = await import(packageName)

Sentry.init({
  dsn: process.env.SENTRY_DSN,
  release: 'orders@2.4.0',
  environment: 'staging',
  tracesSampleRate: 1,
  enableLogs: true,
  _experiments: { enableLogs: true, enableMetrics: true },
  beforeSend: (event) => (event.message === 'not needed' ? null : event),
})

if (action === 'crash') {
  setTimeout(() => {
    throw new RangeError('the pool is exhausted')
  }, 0)
} else {
  Sentry.setUser({ id: '42', email: 'ann@example.com' })
  Sentry.setTag('checkout', 'express')
  Sentry.addBreadcrumb({ category: 'ui.click', message: 'Pay now', level: 'info' })
  Sentry.startSpan({ name: 'POST /checkout', op: 'http.server' }, () => {
    Sentry.startSpan({ name: 'charge', op: 'function' }, () => {})
  })
  Sentry.withScope((scope) => {
    scope.addAttachment({ filename: 'state.txt', data: 'cart=3' })
    Sentry.captureException(new TypeError('card number is missing'))
  })
  Sentry.captureMessage('stock is low', 'warning')
  // Dropped by beforeSend: reported as a client report.
  Sentry.captureMessage('not needed')
  Sentry.captureFeedback?.({ message: 'The button does nothing', name: 'Ann', email: 'ann@example.com' })
  const checkInId = Sentry.captureCheckIn(
    { monitorSlug: 'nightly', status: 'in_progress' },
    { schedule: { type: 'crontab', value: '0 3 * * *' }, timezone: 'UTC' },
  )
  Sentry.captureCheckIn({ checkInId, monitorSlug: 'nightly', status: 'ok', duration: 2 })
  Sentry.logger?.info?.('cart paid', { total: 12.5 })
  Sentry.metrics?.count?.('orders.created', 1)
  await Sentry.close(10_000)
}
