/** The story of the apps in JavaScript, as far as their SDK can: the same as in the other languages. */

/** The transaction began then. Its durations are given, since a busy machine would measure others. */
const startedAt = Date.now() - 1_200
const after = (milliseconds) => new Date(startedAt + milliseconds)

/** Options of `init`, but for the DSN and the release. */
export const OPTIONS = {
  environment: 'staging',
  tracesSampleRate: 1,
  enableLogs: true,
  _experiments: { enableLogs: true, enableMetrics: true },
  // Dropped events are reported as a client report.
  beforeSend: (event) => (event.message === 'not needed' ? null : event),
}

/** Who uses the app, and what they did before anything failed. */
export function enter(Sentry) {
  Sentry.setUser({ id: '42', email: 'ann@example.com' })
  Sentry.setTag('checkout', 'express')
  Sentry.addBreadcrumb({ category: 'ui.click', message: 'Pay now', data: { button: 'pay' } })
}

export function story(Sentry, { hasCause = true } = {}) {
  const transaction = { name: 'POST /checkout', op: 'http.server', startTime: after(0), forceTransaction: true }
  Sentry.startSpanManual(transaction, (span) => {
    Sentry.startInactiveSpan({ name: 'charge', op: 'db', startTime: after(200) }).end(after(1_000))
    checkout(Sentry, hasCause)
    Sentry.logger?.info?.('cart paid', { total: 12.5, currency: 'EUR' })
    span.end(after(1_200))
  })
  Sentry.captureMessage('stock is low', 'warning')
  Sentry.captureMessage('not needed')
  Sentry.metrics?.count?.('orders.created', 1)
}

function checkout(Sentry, hasCause) {
  try {
    readCard(hasCause)
  } catch (error) {
    Sentry.withScope((scope) => {
      scope.addAttachment({ filename: 'state.txt', data: 'cart=3' })
      const associatedEventId = Sentry.captureException(error)
      const feedback = { message: 'The button does nothing', name: 'Ann', email: 'ann@example.com', associatedEventId }
      Sentry.captureFeedback?.(feedback)
    })
  }
}

function readCard(hasCause) {
  if (!hasCause) throw new TypeError('card number is missing')
  try {
    parseField()
  } catch (cause) {
    throw new TypeError('card number is missing', { cause })
  }
}

function parseField() {
  throw new RangeError('field 3 is empty')
}

export function drawConnection() {
  throw new RangeError('the pool is exhausted')
}
