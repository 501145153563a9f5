/**
 * The apps of the demonstration: Meadowlark sells groceries through an app for phones and a web shop, which share one
 * server.
 */

/** Days of history. Older events would get the time of their receipt. */
export const DAYS = 30

export type AppName = 'shopper-android' | 'shopper-ios' | 'shopper-web' | 'orders-api'

export type Release = {
  readonly version: string
  readonly daysAgo: number
  /** Share of sessions that crash. */
  readonly crashes: number
}

export type DemoApp = {
  readonly name: AppName
  readonly platform: 'android' | 'ios' | 'web'
  /** Platform of its events. */
  readonly language: string
  /** Oldest first. */
  readonly releases: readonly Release[]
  /** Sessions in an hour at noon. */
  readonly sessions: number
  /** Screens, pages or requests with their median milliseconds. */
  readonly places: readonly (readonly [name: string, ms: number])[]
  readonly sdk: { readonly name: string; readonly version: string }
}

const ID = 'com.meadowlark.shopper'

export const APPS: readonly DemoApp[] = [
  {
    name: 'shopper-android',
    platform: 'android',
    language: 'java',
    releases: [
      { version: `${ID}@4.9.2+40902`, daysAgo: 41, crashes: 0.0046 },
      { version: `${ID}@4.10.0+41000`, daysAgo: 24, crashes: 0.0041 },
      { version: `${ID}@4.10.1+41001`, daysAgo: 16, crashes: 0.0034 },
      { version: `${ID}@4.11.0+41100`, daysAgo: 7, crashes: 0.0031 },
      { version: `${ID}@4.12.0+41200`, daysAgo: 0.6, crashes: 0.0094 },
    ],
    sessions: 2_400,
    places: [
      ['HomeActivity', 610],
      ['ProductActivity', 940],
      ['CheckoutActivity', 1_650],
      ['AccountActivity', 420],
    ],
    sdk: { name: 'sentry.java.android', version: '8.21.1' },
  },
  {
    name: 'shopper-ios',
    platform: 'ios',
    language: 'cocoa',
    releases: [
      { version: `${ID}@4.10.0+1410`, daysAgo: 38, crashes: 0.0019 },
      { version: `${ID}@4.11.0+1432`, daysAgo: 12, crashes: 0.0016 },
    ],
    sessions: 1_300,
    places: [
      ['HomeViewController', 380],
      ['ProductViewController', 560],
      ['CheckoutViewController', 890],
    ],
    sdk: { name: 'sentry.cocoa', version: '8.55.1' },
  },
  {
    name: 'shopper-web',
    platform: 'web',
    language: 'javascript',
    releases: [
      { version: 'shopper-web@2.28.0', daysAgo: 40, crashes: 0.0021 },
      { version: 'shopper-web@2.29.0', daysAgo: 19, crashes: 0.0018 },
      { version: 'shopper-web@2.30.0', daysAgo: 9, crashes: 0.0012 },
      { version: 'shopper-web@2.31.0', daysAgo: 2, crashes: 0.0022 },
    ],
    sessions: 3_100,
    places: [
      ['/', 1_350],
      ['/product/:id', 1_700],
      ['/basket', 1_050],
      ['/checkout', 2_300],
    ],
    sdk: { name: 'sentry.javascript.react', version: '11.12.0' },
  },
  {
    name: 'orders-api',
    platform: 'web',
    language: 'node',
    releases: [
      { version: 'orders-api@1.81.0', daysAgo: 36, crashes: 0.0004 },
      { version: 'orders-api@1.82.0', daysAgo: 13, crashes: 0.0003 },
      { version: 'orders-api@1.83.0', daysAgo: 3, crashes: 0.0003 },
    ],
    sessions: 5_200,
    places: [
      ['GET /products/:id', 38],
      ['POST /orders', 185],
      ['GET /basket/:id', 24],
      ['POST /payments', 640],
    ],
    sdk: { name: 'sentry.javascript.node', version: '11.12.0' },
  },
]

/** An error that the apps report again and again: one issue. */
export type Fault = {
  readonly app: AppName
  readonly type: string
  readonly value: string
  readonly function: string
  readonly file: string
  /** The failing line of code and those around it. */
  readonly lines: readonly [before: string, line: string, after: string]
  /** Where in the app. */
  readonly place: string
  /** Events a day, between these days ago. */
  readonly perDay: number
  readonly fromDay: number
  readonly toDay?: number
  readonly users: number
  /** The only release that has it. */
  readonly release?: string
  readonly unhandled?: boolean
  readonly level?: 'warning' | 'error' | 'fatal'
}

export const FAULTS: readonly Fault[] = [
  {
    app: 'shopper-android',
    type: 'IllegalStateException',
    value: 'Fragment CheckoutFragment not attached to a context',
    function: 'showSlots',
    file: 'CheckoutFragment.kt',
    lines: ['viewModel.slots.observe(this) { slots ->', '    adapter = SlotAdapter(requireContext(), slots)', '}'],
    place: 'CheckoutActivity',
    perDay: 190,
    fromDay: 0.6,
    users: 140,
    release: `${ID}@4.12.0+41200`,
    unhandled: true,
  },
  {
    app: 'shopper-android',
    type: 'OutOfMemoryError',
    value: 'Failed to allocate a 16777232 byte allocation with 4194304 free bytes',
    function: 'decodeBanner',
    file: 'BannerLoader.kt',
    lines: ['val options = BitmapFactory.Options()', 'return BitmapFactory.decodeStream(input, null, options)', '}'],
    place: 'HomeActivity',
    perDay: 22,
    fromDay: 30,
    users: 60,
    unhandled: true,
  },
  {
    app: 'shopper-android',
    type: 'SocketTimeoutException',
    value: 'timeout after 10000 ms',
    function: 'loadBasket',
    file: 'BasketRepository.kt',
    lines: ['suspend fun loadBasket(id: String): Basket {', '    return api.basket(id)', '}'],
    place: 'CheckoutActivity',
    perDay: 31,
    fromDay: 30,
    users: 210,
  },
  {
    app: 'shopper-android',
    type: 'ApplicationNotResponding',
    value: 'ANR for at least 5000 ms.',
    function: 'saveBasket',
    file: 'SessionStore.kt',
    lines: ['fun saveBasket(basket: Basket) {', '    preferences.edit().putString(KEY, basket.json()).commit()', '}'],
    place: 'ProductActivity',
    perDay: 7,
    fromDay: 24,
    users: 40,
    unhandled: true,
  },
  {
    app: 'shopper-ios',
    type: 'EXC_BAD_ACCESS',
    value: 'Attempted to dereference null pointer.',
    function: 'SlotPicker.reload(animated:)',
    file: 'SlotPicker.swift',
    lines: [
      'let selected = delegate!.selectedSlot',
      'table.scrollToRow(at: selected.path, at: .middle, animated: true)',
      '}',
    ],
    place: 'CheckoutViewController',
    perDay: 9,
    fromDay: 12,
    users: 33,
    release: `${ID}@4.11.0+1432`,
    unhandled: true,
    level: 'fatal',
  },
  {
    app: 'shopper-ios',
    type: 'DecodingError',
    value: "keyNotFound: 'unitPrice' in Product",
    function: 'ProductService.decode(_:)',
    file: 'ProductService.swift',
    lines: ['func decode(_ data: Data) throws -> Product {', '    try decoder.decode(Product.self, from: data)', '}'],
    place: 'ProductViewController',
    perDay: 14,
    fromDay: 3,
    users: 52,
  },
  {
    app: 'shopper-web',
    type: 'TypeError',
    value: "Cannot read properties of undefined (reading 'price')",
    function: 'totalOf',
    file: 'src/basket/total.ts',
    lines: ['for (const line of lines) {', '  sum += line.offer.price * line.quantity', '}'],
    place: '/basket',
    perDay: 26,
    fromDay: 30,
    toDay: 9,
    users: 120,
    unhandled: true,
  },
  {
    app: 'shopper-web',
    type: 'ChunkLoadError',
    value: 'Loading chunk 318 failed.',
    function: 'loadRoute',
    file: 'src/routes.tsx',
    lines: ['const pages = {', "  checkout: lazy(() => import('./checkout/page.tsx')),", '}'],
    place: '/checkout',
    perDay: 44,
    fromDay: 2,
    users: 160,
    release: 'shopper-web@2.31.0',
    unhandled: true,
  },
  {
    app: 'shopper-web',
    type: 'AbortError',
    value: 'The user aborted a request.',
    function: 'search',
    file: 'src/search/suggest.ts',
    lines: [
      'controller.abort()',
      'const answer = await fetch(url, { signal: controller.signal })',
      'return answer.json()',
    ],
    place: '/',
    perDay: 38,
    fromDay: 30,
    users: 300,
    level: 'warning',
  },
  {
    app: 'shopper-web',
    type: 'RangeError',
    value: 'Invalid time value',
    function: 'formatSlot',
    file: 'src/checkout/slot.ts',
    lines: ['export function formatSlot(slot) {', '  return new Date(slot.start).toISOString()', '}'],
    place: '/checkout',
    perDay: 6,
    fromDay: 19,
    users: 25,
    unhandled: true,
  },
  {
    app: 'orders-api',
    type: 'PaymentError',
    value: 'the payment provider answered 502',
    function: 'capture',
    file: 'src/payments/capture.ts',
    lines: [
      'const answer = await provider.capture(order)',
      'if (!answer.ok) throw new PaymentError(answer)',
      'return answer.id',
    ],
    place: 'POST /payments',
    perDay: 17,
    fromDay: 30,
    users: 130,
  },
  {
    app: 'orders-api',
    type: 'DeadlockError',
    value: 'deadlock detected while reserving stock',
    function: 'reserve',
    file: 'src/stock/reserve.ts',
    lines: ['for (const line of order.lines) {', '  await tx.query(RESERVE, [line.sku, line.quantity])', '}'],
    place: 'POST /orders',
    perDay: 12,
    fromDay: 3,
    users: 70,
    release: 'orders-api@1.83.0',
  },
  {
    app: 'orders-api',
    type: 'ValidationError',
    value: 'postcode must have 5 digits',
    function: 'parseAddress',
    file: 'src/orders/address.ts',
    lines: [
      'const parsed = Address.safeParse(body)',
      'if (!parsed.success) throw new ValidationError(parsed.error)',
      'return parsed.data',
    ],
    place: 'POST /orders',
    perDay: 52,
    fromDay: 30,
    users: 400,
    level: 'warning',
  },
]

/** The issue of the web shop that a member resolves and that comes back with the newest release. */
export const REGRESSION: Fault = {
  app: 'shopper-web',
  type: 'CouponError',
  value: 'the coupon was used twice in one order',
  function: 'applyCoupon',
  file: 'src/checkout/coupon.ts',
  lines: [
    'export async function applyCoupon(order, code) {',
    '  if (order.coupons.has(code)) throw new CouponError(code)',
    '}',
  ],
  place: '/checkout',
  perDay: 15,
  fromDay: 28,
  toDay: 11,
  users: 60,
}
/** When it comes back, and how often it happens then. */
export const REGRESSED: Fault = { ...REGRESSION, perDay: 34, fromDay: 1.6, toDay: 0, release: 'shopper-web@2.31.0' }

export const MEMBERS = [
  { name: 'Tomo Arai', email: 'tomo@meadowlark.example', role: 'member' },
  { name: 'Zoë Müller', email: 'zoe@meadowlark.example', role: 'admin' },
  { name: 'Robin Vale', email: 'robin@meadowlark.example', role: 'viewer' },
  { name: 'Imani Okoye', email: 'imani@meadowlark.example', role: 'member' },
] as const
export const OWNER = { name: 'Ines Kaya', email: 'ines@meadowlark.example', org: 'Meadowlark' } as const
