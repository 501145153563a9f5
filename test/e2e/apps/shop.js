/** A shop as its developers would write it: the published browser SDK, set up with nothing but a DSN. */
import * as Sentry from '@sentry/browser'

Sentry.init({ dsn: new URLSearchParams(location.search).get('dsn'), release: 'shop-web@3.1.0', environment: 'test' })

class CheckoutError extends Error {
  constructor(message, options) {
    super(message, options)
    this.name = 'CheckoutError'
  }
}

function readCart() {
  return JSON.parse('{"items":')
}

function openCheckout() {
  try {
    readCart()
  } catch (cause) {
    throw new CheckoutError('the cart cannot be read', { cause })
  }
}

const actions = {
  handled() {
    Sentry.setTag('theme', 'dark')
    Sentry.setUser({ id: 'u-7', username: 'grace' })
    Sentry.addBreadcrumb({ category: 'cart', message: 'added a lamp' })
    try {
      openCheckout()
    } catch (error) {
      Sentry.captureException(error)
    }
  },
  unhandled() {
    openCheckout()
  },
  rejection() {
    void Promise.reject(new RangeError('no stock left'))
  },
  report() {
    Sentry.captureException(new CheckoutError('the cart cannot be read'))
    Sentry.showReportDialog({
      lang: 'de',
      title: 'Was ist passiert?',
      labelComments: 'Ihre Beschreibung',
      user: { name: 'Grace' },
      onLoad: () => (document.body.dataset.dialog = 'loaded'),
      onClose: () => (document.body.dataset.dialog = 'closed'),
    })
  },
  message() {
    Sentry.captureMessage('the banner was closed', 'info')
  },
}

for (const [name, action] of Object.entries(actions)) {
  const button = document.createElement('button')
  button.id = name
  button.textContent = name
  button.addEventListener('click', action)
  document.body.append(button)
}
