import type { Expected, ExpectedLines, Shown } from './reader.ts'
import { cli, go, java, node, php, python, reactNative, ruby, rust, type Ready } from './toolchains.ts'

/**
 * Every published SDK that is tried, and what a member of the project reads after its app did its story (`apps/`): a
 * transaction with an error in it, a message, a log, a metric, runs of a job and feedback, as far as the SDK has them,
 * and then a crash. A new SDK is an app and an object here.
 */
type Client = {
  /** Its name in the table of docs/compatibility.md. */
  readonly name: string
  readonly shows: Expected
}

/** One that runs as a separate process. */
export type ProcessClient = Client & {
  prepare(): Ready | Promise<Ready>
  /** Whether the argument `crash` makes its app crash. */
  readonly crashes: boolean
}

/** One that runs on a page of a browser. */
export type PageClient = Client & { readonly packageName: string }

/** An issue of the app's user; the parts that differ are given. */
const issue = (parts: Partial<ExpectedLines> & Pick<ExpectedLines, 'title' | 'of'>): ExpectedLines => ({
  level: 'error',
  unhandled: false,
  user: '42 ann@example.com',
  tags: ['checkout express'],
  breadcrumbs: ['ui.click: Pay now {"button":"pay"}'],
  source: null,
  causes: [],
  attachments: [],
  trace: [],
  ...parts,
})

const NOTHING: Shown = {
  issues: [],
  sessions: [],
  transactions: [],
  logs: [],
  metrics: [],
  check_ins: [],
  feedback: [],
}
const TRACE = ['http.server POST /checkout, 1200 ms', 'db charge, 800 ms']
const ATTACHMENTS = ['state.txt, 6 bytes']
const TRANSACTIONS = ['http.server POST /checkout, 1, 1200 ms']
const LOG = 'info cart paid, currency EUR, total 12.5, user.email ann@example.com, user.id 42, in the trace of an issue'
const METRICS = ['counter orders.created 1']
const CHECK_INS = ['nightly (0 3 * * *) ok, 2000 ms, staging']
const feedbackAbout = (title: string): string[] => [`Ann ann@example.com: The button does nothing (${title})`]

// ---- JavaScript ----------------------------------------------------------------------------------------------------

const ORDERS = 'orders@2.4.0, staging'
const NODE: Expected = {
  ...NOTHING,
  issues: [
    issue({
      title: 'RangeError: the pool is exhausted',
      culprit: 'Timeout.drawConnection in apps/story.mjs',
      of: ORDERS,
      level: 'fatal',
      unhandled: true,
      stack: ['Timeout.drawConnection [as _onTimeout] in story.mjs', '(not in-app)'],
      source: "throw new RangeError('the pool is exhausted')",
    }),
    issue({
      title: 'TypeError: card number is missing',
      culprit: 'readCard in apps/story.mjs',
      of: ORDERS,
      stack: ['readCard in story.mjs', 'checkout in story.mjs', '? in story.mjs'],
      source: "throw new TypeError('card number is missing', { cause })",
      causes: ['RangeError: field 3 is empty'],
      attachments: ATTACHMENTS,
      trace: TRACE,
    }),
    issue({ title: 'stock is low', culprit: '', of: ORDERS, level: 'warning', stack: [] }),
  ],
  sessions: ['orders@2.4.0: 2, 1 crashed, 0 unhandled, 1 users'],
  transactions: TRANSACTIONS,
  check_ins: CHECK_INS,
  feedback: feedbackAbout('TypeError: card number is missing'),
}

/** Version 11 sends the stack and the trace of a message, too. */
const NODE_11: Expected = {
  ...NODE,
  issues: [
    ...NODE.issues.slice(0, 2),
    issue({
      title: 'stock is low',
      culprit: 'story in apps/story.mjs',
      of: ORDERS,
      level: 'warning',
      stack: ['story in story.mjs', '? in node.mjs'],
      source: "Sentry.captureMessage('stock is low', 'warning')",
      trace: TRACE,
    }),
  ],
  logs: [LOG],
  metrics: METRICS,
}

const MOBILE = {
  of: 'com.acme.shop@3.1.0+77, staging',
  tags: ['hermes True', 'checkout express', 'event.origin javascript', 'event.environment javascript'],
}
const REACT_NATIVE: Expected = {
  ...NOTHING,
  issues: [
    issue({
      ...MOBILE,
      title: 'RangeError: the pool is exhausted',
      culprit: 'drawConnection in story.mjs',
      level: 'fatal',
      unhandled: true,
      stack: ['drawConnection in story.mjs', '? in react-native.mjs'],
    }),
    issue({
      ...MOBILE,
      title: 'TypeError: card number is missing',
      culprit: 'readCard in story.mjs',
      stack: ['readCard in story.mjs', 'checkout in story.mjs', '? in story.mjs'],
      attachments: ATTACHMENTS,
      trace: TRACE,
    }),
    issue({
      ...MOBILE,
      title: 'stock is low',
      culprit: 'story in story.mjs',
      level: 'warning',
      stack: ['story in story.mjs', '? in react-native.mjs'],
      trace: TRACE,
    }),
  ],
  transactions: TRANSACTIONS,
  logs: [LOG],
  metrics: METRICS,
  feedback: feedbackAbout('TypeError: card number is missing'),
}

// Errors of a page have no culprit here: it is the page, not the function that failed.
const SHOP = 'shop@1.2.3, staging'
const PAY = ['ui.click: body > button#pay', 'ui.click: Pay now {"button":"pay"}']
const BROWSER_10: Expected = {
  ...NOTHING,
  issues: [
    issue({
      title: 'RangeError: the pool is exhausted',
      of: SHOP,
      unhandled: true,
      breadcrumbs: [...PAY, 'ui.click: body > button#crash'],
      stack: ['drawConnection in app.js', 'HTMLButtonElement.crash in app.js'],
      trace: TRACE,
    }),
    issue({
      title: 'TypeError: card number is missing',
      of: SHOP,
      breadcrumbs: PAY,
      stack: ['readCard in app.js', 'checkout in app.js', '? in app.js'],
      causes: ['RangeError: field 3 is empty'],
      attachments: ATTACHMENTS,
      trace: TRACE,
    }),
    issue({
      title: 'stock is low',
      culprit: '/',
      of: SHOP,
      level: 'warning',
      breadcrumbs: PAY,
      stack: [],
      trace: TRACE,
    }),
  ],
  sessions: ['shop@1.2.3: 1, 1 crashed, 0 unhandled, 1 users'],
  transactions: ['pageload /, 1', ...TRANSACTIONS],
  logs: [LOG],
  metrics: METRICS,
  feedback: feedbackAbout('TypeError: card number is missing'),
}

/** Version 11 sends the stack of a message, too, and a crash of its page is an unhandled error of the session. */
const BROWSER_11: Expected = {
  ...BROWSER_10,
  issues: [
    ...BROWSER_10.issues.slice(0, 2),
    issue({
      title: 'stock is low',
      of: SHOP,
      level: 'warning',
      breadcrumbs: PAY,
      stack: ['story in app.js', 'HTMLButtonElement.pay in app.js'],
      trace: TRACE,
    }),
  ],
  sessions: ['shop@1.2.3: 1, 0 crashed, 1 unhandled, 1 users'],
}

/** Its package has no feedback: apps take the function of the SDK beside it. */
const CAPACITOR: Expected = {
  ...BROWSER_10,
  issues: BROWSER_10.issues.map((one) => ({
    ...one,
    tags: [...one.tags, 'event.origin javascript', 'event.environment javascript'],
  })),
  feedback: [],
}

// ---- Other languages -----------------------------------------------------------------------------------------------

const BILLING = 'billing@1.4.0, staging'
const PYTHON: Expected = {
  ...NOTHING,
  issues: [
    issue({
      title: 'RuntimeError: the pool is exhausted',
      culprit: 'draw_connection in app.py',
      of: BILLING,
      unhandled: true,
      stack: ['draw_connection in app.py', '<module> in app.py'],
      source: 'raise RuntimeError("the pool is exhausted")',
    }),
    issue({
      title: 'ValueError: card number is missing',
      culprit: 'POST /checkout',
      of: BILLING,
      stack: ['read_card in app.py', 'checkout in app.py'],
      source: 'raise ValueError("card number is missing") from error',
      causes: ["KeyError: 'field 3 is empty'"],
      attachments: ATTACHMENTS,
      trace: TRACE,
    }),
    issue({ title: 'stock is low', culprit: 'POST /checkout', of: BILLING, level: 'warning', stack: [] }),
  ],
  sessions: ['billing@1.4.0: 2, 1 crashed, 0 unhandled, 1 users'],
  transactions: TRANSACTIONS,
  // Logs name the user only with `send_default_pii`.
  logs: ['info cart paid, currency EUR, total 12.5, in the trace of an issue'],
  metrics: METRICS,
  check_ins: CHECK_INS,
}

const WAREHOUSE = 'warehouse@0.9.0, staging'
const GO: Expected = {
  ...NOTHING,
  issues: [
    issue({
      title: '*fmt.wrapError: card number is missing: field 3 is empty',
      culprit: 'checkout in go/main.go',
      of: WAREHOUSE,
      stack: ['checkout in main.go', 'main in main.go'],
      causes: ['*errors.errorString: field 3 is empty'],
      attachments: ATTACHMENTS,
      trace: TRACE,
    }),
    issue({
      title: 'stock is low',
      culprit: 'main in go/main.go',
      of: WAREHOUSE,
      level: 'warning',
      stack: ['main in main.go'],
      trace: TRACE,
    }),
    issue({
      title: 'the pool is exhausted',
      culprit: 'drawConnection in go/main.go',
      of: WAREHOUSE,
      level: 'fatal',
      // A recovered panic: the SDK marks it fatal and does not say whether it was handled.
      unhandled: true,
      stack: ['drawConnection in main.go', 'main in main.go'],
    }),
  ],
  transactions: TRANSACTIONS,
  logs: [LOG],
  metrics: METRICS,
  check_ins: CHECK_INS,
}

const BOOKS = 'com.acme.books@5.0.1+9, staging'
const JAVA: Expected = {
  ...NOTHING,
  issues: [
    issue({
      title: 'IllegalArgumentException: the pool is exhausted',
      culprit: 'App.drawConnection',
      of: BOOKS,
      level: 'fatal',
      unhandled: true,
      stack: ['drawConnection in App.java', 'main in App.java'],
    }),
    issue({
      title: 'IllegalStateException: card number is missing',
      culprit: 'POST /checkout',
      of: BOOKS,
      stack: ['readCard in App.java', 'checkout in App.java', 'main in App.java'],
      causes: ['NumberFormatException: field 3 is empty'],
      attachments: ATTACHMENTS,
      trace: TRACE,
    }),
    issue({
      title: 'stock is low',
      culprit: 'App.main',
      of: BOOKS,
      level: 'warning',
      stack: ['(not in-app)', 'main in App.java'],
    }),
  ],
  // Its sessions name the installation of the app, which only devices have.
  sessions: ['com.acme.books@5.0.1+9: 2, 1 crashed, 0 unhandled, unknown users'],
  transactions: TRANSACTIONS,
  logs: [LOG],
  metrics: METRICS,
  check_ins: CHECK_INS,
  feedback: feedbackAbout('IllegalStateException: card number is missing'),
}

// Stacks and culprits are left out: functions of the SDK that Rust inlines are in-app in them.
const ENGINE = 'engine@2.0.0, staging'
const RUST: Expected = {
  ...NOTHING,
  issues: [
    issue({
      title: 'CardError: card number is missing',
      of: ENGINE,
      causes: ['FieldError: field 3 is empty'],
      attachments: ATTACHMENTS,
      trace: TRACE,
    }),
    issue({
      title: 'panic: the pool is exhausted',
      of: ENGINE,
      level: 'fatal',
      unhandled: true,
    }),
    issue({
      title: 'stock is low',
      of: ENGINE,
      level: 'warning',
    }),
  ],
  sessions: ['engine@2.0.0: 2, 1 crashed, 0 unhandled, 1 users'],
  transactions: TRANSACTIONS,
  logs: [LOG],
  metrics: METRICS,
}

const DEPOT = 'depot@3.2.0, staging'
const RUBY: Expected = {
  ...NOTHING,
  issues: [
    issue({
      title: 'ArgumentError: card number is missing',
      culprit: 'rescue in read_card in app.rb',
      of: DEPOT,
      stack: ['rescue in read_card in app.rb', 'read_card in app.rb', 'checkout in app.rb'],
      source: "raise ArgumentError, 'card number is missing'",
      causes: ['KeyError: field 3 is empty'],
      attachments: ATTACHMENTS,
      trace: TRACE,
    }),
    issue({
      title: 'RuntimeError: the pool is exhausted',
      culprit: 'draw_connection in app.rb',
      of: DEPOT,
      unhandled: true,
      stack: ['draw_connection in app.rb', 'block in <main> in app.rb', '(not in-app)'],
      source: "raise 'the pool is exhausted'",
    }),
    issue({
      title: 'stock is low',
      culprit: 'block in <main> in app.rb',
      of: DEPOT,
      level: 'warning',
      stack: ['(not in-app)', 'block in <main> in app.rb', '(not in-app)'],
      source: "Sentry.capture_message('stock is low', level: :warning)",
    }),
  ],
  // The SDK knows no crashed sessions and no users of them.
  sessions: ['depot@3.2.0: 2, 0 crashed, 0 unhandled, unknown users'],
  transactions: TRANSACTIONS,
  logs: [LOG],
  metrics: METRICS,
  check_ins: CHECK_INS,
}

const KIOSK = 'kiosk@7.0.2, staging'
const PHP: Expected = {
  ...NOTHING,
  issues: [
    issue({
      title: 'InvalidArgumentException: card number is missing',
      culprit: 'readCard in php/app.php',
      of: KIOSK,
      stack: ['readCard in app.php', 'checkout in app.php', '(unknown) in app.php'],
      source: "throw new InvalidArgumentException('card number is missing', 0, $error);",
      causes: ['OutOfBoundsException: field 3 is empty'],
      trace: TRACE,
    }),
    issue({
      title: 'RuntimeException: the pool is exhausted',
      culprit: 'drawConnection in php/app.php',
      of: KIOSK,
      unhandled: true,
      stack: ['drawConnection in app.php', '(unknown) in app.php'],
      source: "throw new RuntimeException('the pool is exhausted');",
    }),
    issue({
      title: 'stock is low',
      culprit: 'php/app.php',
      of: KIOSK,
      level: 'warning',
      stack: ['(not in-app)', '(unknown) in app.php'],
      source: "Sentry\\captureMessage('stock is low', Severity::warning());",
    }),
  ],
  transactions: TRANSACTIONS,
  logs: [LOG],
  metrics: METRICS,
  check_ins: CHECK_INS,
}

const CLI: Expected = {
  ...NOTHING,
  issues: [
    issue({
      title: 'stock is low: 3',
      culprit: '',
      of: 'tools@1.0.0, staging',
      level: 'warning',
      breadcrumbs: ['log: Pay now'],
      stack: [],
    }),
  ],
  check_ins: ['nightly (0 3 * * *) ok, under 2000 ms, staging'],
}

/** SDKs that run as a separate process. */
export const PROCESS_CLIENTS: readonly ProcessClient[] = [
  { name: '@sentry/node 8.55.2', prepare: () => node('sentry-node-8'), crashes: true, shows: NODE },
  { name: '@sentry/node 9.47.2', prepare: () => node('sentry-node-9'), crashes: true, shows: { ...NODE, logs: [LOG] } },
  {
    name: '@sentry/node 10.78.0',
    prepare: () => node('sentry-node-10'),
    crashes: true,
    shows: { ...NODE, logs: [LOG], metrics: METRICS },
  },
  { name: '@sentry/node 11.12.0', prepare: () => node('sentry-node-11'), crashes: true, shows: NODE_11 },
  { name: '@sentry/react-native 8.28.0 (JavaScript layer)', prepare: reactNative, crashes: true, shows: REACT_NATIVE },
  { name: 'sentry-sdk 2.75.0 (Python)', prepare: python, crashes: true, shows: PYTHON },
  { name: 'sentry-go 0.50.0', prepare: go, crashes: true, shows: GO },
  { name: 'sentry-java 8.64.0', prepare: java, crashes: true, shows: JAVA },
  { name: 'sentry 0.49.5 (Rust)', prepare: rust, crashes: true, shows: RUST },
  { name: 'sentry-ruby 6.6.2', prepare: ruby, crashes: true, shows: RUBY },
  { name: 'sentry-php 4.29.0', prepare: php, crashes: true, shows: PHP },
  { name: 'sentry-cli 3.8.0', prepare: cli, crashes: false, shows: CLI },
]

/** SDKs that run on a page of a browser. */
export const PAGE_CLIENTS: readonly PageClient[] = [
  { name: '@sentry/browser 10.78.0', packageName: 'sentry-browser-10', shows: BROWSER_10 },
  { name: '@sentry/browser 11.12.0', packageName: 'sentry-browser-11', shows: BROWSER_11 },
  { name: '@sentry/capacitor 4.4.0 (JavaScript layer)', packageName: '@sentry/capacitor', shows: CAPACITOR },
]
