/**
 * An app as its developers would write it: the published SDK, configured with nothing but a DSN.
 * Arguments: package name, what to do. The DSN comes from SENTRY_DSN, as SDKs read it.
 */
const [, , packageName, action] = process.argv
const Sentry = await import(packageName)

Sentry.init({ dsn: process.env.SENTRY_DSN, release: 'orders@2.4.0', environment: 'staging' })

class PaymentError extends Error {
  constructor(message, options) {
    super(message, options)
    this.name = 'PaymentError'
  }
}

function readCard() {
  throw new TypeError('card number is missing')
}

function chargeCard() {
  try {
    readCard()
  } catch (cause) {
    throw new PaymentError('charge failed', { cause })
  }
}

switch (action) {
  case 'handled':
    Sentry.setTag('checkout', 'express')
    Sentry.setUser({ id: '42', email: 'ann@example.com' })
    Sentry.addBreadcrumb({ category: 'ui.click', message: 'Pay now', level: 'info' })
    try {
      chargeCard()
    } catch (error) {
      Sentry.captureException(error)
    }
    break
  case 'message':
    Sentry.captureMessage('stock is low', 'warning')
    break
  case 'attachment':
    Sentry.getCurrentScope().addAttachment({ filename: 'state.txt', data: 'cart=3' })
    Sentry.captureException(new Error('with attachment'))
    break
  case 'unhandled':
    setTimeout(() => {
      chargeCard()
    }, 0)
    break
  default:
    throw new Error(`unknown action ${action}`)
}
if (action !== 'unhandled') await Sentry.flush(5_000)
