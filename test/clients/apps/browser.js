/** An app on a page with two buttons; which SDK decides the bundler's alias of `sdk`. */
import * as Sentry from 'sdk'
import { drawConnection, enter, OPTIONS, story } from './story.mjs'

Sentry.init({
  ...OPTIONS,
  dsn: new URLSearchParams(location.search).get('dsn'),
  release: 'shop@1.2.3',
  integrations: (defaults) => [...defaults, Sentry.browserTracingIntegration()],
})
document.querySelector('#pay').addEventListener('click', function pay() {
  enter(Sentry)
  story(Sentry)
  Sentry.flush()
})
document.querySelector('#crash').addEventListener('click', function crash() {
  drawConnection()
})
