/** The published browser SDK on a page; which version decides the bundler's alias of `sdk`. */
import * as Sentry from 'sdk'

Sentry.init({
  dsn: new URLSearchParams(location.search).get('dsn'),
  release: 'shop@1.2.3',
  environment: 'staging',
  tracesSampleRate: 1,
  enableLogs: true,
  integrations: [Sentry.browserTracingIntegration()],
})

window.act = async () => {
  Sentry.setUser({ id: '7' })
  Sentry.addBreadcrumb({ category: 'ui.click', message: 'Pay now' })
  Sentry.withScope((scope) => {
    scope.addAttachment({ filename: 'state.txt', data: 'cart=3' })
    Sentry.captureException(new TypeError('card number is missing'))
  })
  Sentry.captureMessage('stock is low', 'warning')
  Sentry.captureFeedback({ message: 'The button does nothing', name: 'Ann', email: 'ann@example.com' })
  Sentry.logger?.info?.('cart paid', { total: 12.5 })
  Sentry.metrics?.count?.('orders.created', 1)
  Sentry.startSpan({ name: 'checkout', op: 'ui.action' }, () => {})
  await Sentry.flush(5_000)
}

window.crash = () => {
  setTimeout(() => {
    throw new RangeError('the pool is exhausted')
  }, 0)
}
