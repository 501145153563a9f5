import { describe, expect, test } from 'vitest'
import { cpuMs } from '#test/kit/loop-watch.ts'
import { anEvent, anException } from '#test/kit/sdk.ts'
import { normalizeEvent } from '../../events/protocol/normalize.ts'
import type { Event } from '../../events/protocol/event.api.ts'
import { DEFAULT_INBOUND_FILTERS, InboundFilters } from './inbound-filters.api.ts'
import { compileFilters, filteredEvent, filteredTransaction } from './compile-filters.ts'

const compiled = (fields: Partial<InboundFilters>) => compileFilters({ ...DEFAULT_INBOUND_FILTERS, ...fields })

function eventOf(fields: Record<string, unknown>, clientIp: string | null = null): Event {
  const now = new Date('2026-11-20T12:00:00Z')
  return normalizeEvent(anEvent(fields), {
    eventId: 'a'.repeat(32),
    receivedAt: now,
    sentAt: null,
    clientIp,
    userAgent: null,
  })
}

type Given = { clientIp?: string; userAgent?: string }

/** Returns the reason to drop an event, or null. */
function reasonOf(filters: Partial<InboundFilters>, fields: Record<string, unknown>, given: Given = {}) {
  const { clientIp = null, userAgent = null } = given
  const claimedAddress = eventOf(fields).user?.ip_address ?? null
  return filteredEvent(compiled(filters), eventOf(fields, clientIp), { clientIp, userAgent, claimedAddress })
}

const thrownBy = (...urls: (string | null)[]) => ({
  exception: {
    values: [anException({ stacktrace: { frames: urls.map((url) => ({ filename: url, function: 'f', lineno: 1 })) } })],
  },
})
const withValue = (value: string) => ({ error: { value } })
const onPage = (url: string) => ({ request: { url } })
const CHROME_60 =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/60.0.3112.113 Safari/537.36'

test('by default no event is dropped', () => {
  const hostile = { ...onPage('http://localhost/'), server_name: 'localhost', ...thrownBy('chrome-extension://x/y.js') }
  expect(reasonOf({}, hostile, { clientIp: '127.0.0.1', userAgent: 'Googlebot/2.1' })).toBeNull()
  expect(compiled({}).ofEvents).toEqual([])
})

describe('browser extensions', () => {
  const on = { browser_extensions: true }

  test.each([
    'chrome-extension://abcdef/content.js',
    'moz-extension://0-1/x.js',
    'safari-web-extension://A-B/x.js',
    'webkit-masked-url://hidden/',
    'https://www.browsealoud.texthelp.com/x.js',
  ])('thrown by %s', (url) => {
    expect(reasonOf(on, thrownBy('https://shop.example/app.js', url))).toBe('browser_extension')
    expect(reasonOf(on, thrownBy(url, '<anonymous>'))).toBe('browser_extension')
    // The extension only wraps a function of the page.
    expect(reasonOf(on, thrownBy(url, 'https://shop.example/app.js'))).toBeNull()
  })

  test.each([
    'Extension context invalidated.',
    'Non-Error promise rejection captured with value: Object Not Found Matching Id:3, MethodName:update, ParamCount:4',
    "Can't find variable: gmo",
    "undefined is not an object (evaluating '__gCrWeb.autofill')",
  ])('known messages of extensions: %s', (value) => {
    expect(reasonOf(on, withValue(value))).toBe('browser_extension')
    expect(reasonOf(on, { exception: undefined, message: value })).toBe('browser_extension')
  })

  test.each(['card declined', 'Cannot read properties of undefined', 'extension .pdf is not allowed', 'gmo is slow'])(
    'messages of apps: %s',
    (value) => {
      expect(reasonOf(on, withValue(value))).toBeNull()
    },
  )

  test('an event without stack and message is kept', () => {
    expect(reasonOf(on, { exception: undefined })).toBeNull()
    expect(reasonOf(on, thrownBy(null, ''))).toBeNull()
  })
})

describe('localhost', () => {
  const on = { localhost: true }

  test.each([
    'http://localhost/',
    'http://localhost:3000/cart?a=1',
    'https://LOCALHOST./',
    'http://app.localhost:8080',
    'http://127.0.0.1:8000/x',
    'http://ada:secret@127.1.2.3/',
    'http://[::1]:3000/',
  ])('page %s', (url) => {
    expect(reasonOf(on, onPage(url))).toBe('localhost')
  })

  test.each([
    'https://shop.example/localhost',
    'https://localhost.example.com/',
    'https://shop.example/?u=http://localhost/',
    'https://shop.example/#@localhost',
    'localhost',
    '/cart',
    '',
    'https://[2001:db8::1]/',
  ])('not local: %s', (url) => {
    expect(reasonOf(on, onPage(url))).toBeNull()
  })

  test('server names and addresses of users', () => {
    expect(reasonOf(on, { server_name: 'localhost' })).toBe('localhost')
    expect(reasonOf(on, { server_name: 'ada-mbp.local' })).toBeNull()
    expect(reasonOf(on, { user: { ip_address: '127.0.0.1' } })).toBe('localhost')
    expect(reasonOf(on, { user: { ip_address: '::1' } })).toBe('localhost')
    expect(reasonOf(on, { user: { ip_address: '203.0.113.7' } })).toBeNull()
  })

  test('a connection over loopback is not enough, because it may be a proxy', () => {
    expect(reasonOf(on, { platform: 'python' }, { clientIp: '127.0.0.1' })).toBeNull()
    expect(reasonOf(on, { platform: 'javascript' }, { clientIp: '127.0.0.1' })).toBeNull()
  })
})

describe('crawlers', () => {
  const on = { web_crawlers: true }

  test.each([
    'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    'Mozilla/5.0 (Linux; Android 6.0.1) AppleWebKit/537.36 Chrome/118.0 Mobile Safari/537.36 (compatible; bingbot/2.0)',
    'facebookexternalhit/1.1',
    'Mozilla/5.0 (compatible; YandexBot/3.0)',
    'Mozilla/5.0 (compatible; Baiduspider/2.0)',
    'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2)',
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/120.0 Safari/537.36',
    'Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)',
  ])('%s', (userAgent) => {
    expect(reasonOf(on, {}, { userAgent })).toBe('web_crawler')
    expect(reasonOf(on, { platform: 'php', request: { headers: { 'User-Agent': userAgent } } })).toBe('web_crawler')
    // For a server, the connection is the SDK's, not the visitor's.
    expect(reasonOf(on, { platform: 'php' }, { userAgent })).toBeNull()
  })

  test.each([
    CHROME_60,
    'Mozilla/5.0 (Linux; Android 8.1; CUBOT_P20) AppleWebKit/537.36 Chrome/69.0',
    'sentry.python/2.68',
  ])('not a crawler: %s', (userAgent) => {
    expect(reasonOf(on, {}, { userAgent })).toBeNull()
  })
})

describe('legacy browsers', () => {
  test.each<[string, InboundFilters['legacy_browsers'], boolean]>([
    ['Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko', { ie: 12 }, true],
    ['Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko', { ie: 11 }, false],
    ['Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko', { chrome: 100 }, false],
    [CHROME_60, { chrome: 61 }, true],
    [CHROME_60, { chrome: 60 }, false],
    [CHROME_60, { safari: 999 }, false],
    [
      'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/64.0 Safari/537.36 Edge/18.17763',
      { edge: 79 },
      true,
    ],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:60.0) Gecko/20100101 Firefox/60.0', { firefox: 67, ie: 12 }, true],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 11_0 like Mac OS X) AppleWebKit/604.1 (KHTML, like Gecko) Version/11.0 Mobile/15A372 Safari/604.1',
      { safari: 12 },
      true,
    ],
    ['nonsense', { ie: 12 }, false],
  ])('%s below %j: %s', (userAgent, legacy_browsers, dropped) => {
    expect(reasonOf({ legacy_browsers }, {}, { userAgent })).toBe(dropped ? 'legacy_browser' : null)
  })
})

describe('lists', () => {
  test('releases', () => {
    expect(reasonOf({ releases: ['shop@1.*'] }, {})).toBe('release')
    expect(reasonOf({ releases: ['shop@2.*', '*-local'] }, { release: 'shop@3-local' })).toBe('release')
    expect(reasonOf({ releases: ['shop@2.*'] }, {})).toBeNull()
    expect(reasonOf({ releases: ['shop@*'] }, { release: undefined })).toBeNull()
  })

  test('messages: of the title, the value and the message', () => {
    expect(reasonOf({ messages: ['*declined*'] }, {})).toBe('message')
    expect(reasonOf({ messages: ['PaymentError: card declined'] }, {})).toBe('message')
    expect(reasonOf({ messages: ['ads sdk*'] }, { exception: undefined, message: 'Ads SDK timeout' })).toBe('message')
    expect(reasonOf({ messages: ['declined'] }, {})).toBeNull()
  })

  test('addresses: of the connection and of the user', () => {
    const filters = { ip_addresses: ['203.0.113.0/24', '2001:db8::/32'] }
    expect(reasonOf(filters, {}, { clientIp: '203.0.113.9' })).toBe('ip_address')
    expect(reasonOf(filters, { user: { ip_address: '2001:db8::9' } }, { clientIp: '198.51.100.1' })).toBe('ip_address')
    expect(reasonOf(filters, {}, { clientIp: '198.51.100.1' })).toBeNull()
    expect(compiled(filters).ofAddresses?.('203.0.113.9')).toBe(true)
    expect(compiled({}).ofAddresses).toBeNull()
  })
})

describe('transactions', () => {
  test.each(['GET /healthz', '/livez', 'GET /api/health', '/ready', 'HEAD /ping', 'GET /API/HealthCheck'])(
    '%s is a health check by default',
    (transaction) => {
      expect(filteredTransaction(compiled({}), { transaction })).toBe('health_check')
      expect(filteredTransaction(compiled({ health_checks: false }), { transaction })).toBeNull()
    },
  )

  test.each(['GET /health/records', '/shipping', 'ready-to-pay', '/mappings', null])(
    '%s is not a health check',
    (transaction) => {
      expect(filteredTransaction(compiled({}), { transaction })).toBeNull()
    },
  )

  test('other filters apply to transactions, too', () => {
    const filters = compiled({ localhost: true, web_crawlers: true, releases: ['1.*'], ip_addresses: ['10.0.0.0/8'] })
    expect(filteredTransaction(filters, { transaction: 't', url: 'http://localhost/' })).toBe('localhost')
    expect(filteredTransaction(filters, { transaction: 't', userAgent: 'Googlebot/2.1' })).toBe('web_crawler')
    expect(filteredTransaction(filters, { transaction: 't', release: '1.0' })).toBe('release')
    expect(filteredTransaction(filters, { transaction: 't', addresses: ['10.1.1.1'] })).toBe('ip_address')
    expect(filteredTransaction(filters, { transaction: 't' })).toBeNull()
  })
})

describe('settings', () => {
  test.each<[Record<string, unknown>, RegExp]>([
    [{ releases: ['*'] }, /everything/],
    [{ messages: ['**'] }, /everything/],
    [{ messages: [''] }, /empty/],
    [{ messages: ['x'.repeat(201)] }, /200/],
    [{ releases: Array.from({ length: 101 }, () => 'a') }, /100/],
    [{ ip_addresses: ['10.0.0.0/0'] }, /addresses and ranges/],
    [{ ip_addresses: ['shop.example'] }, /addresses and ranges/],
    [{ legacy_browsers: { netscape: 4 } }, /legacy_browsers/],
    [{ legacy_browsers: { ie: 0 } }, /ie/],
    [{ nonsense: true }, /nonsense/],
  ])('%j is refused', (fields, reason) => {
    expect(InboundFilters.partial().safeParse(fields).error?.message ?? '').toMatch(reason)
  })

  test('defaults are valid', () => {
    expect(InboundFilters.parse(DEFAULT_INBOUND_FILTERS)).toEqual(DEFAULT_INBOUND_FILTERS)
  })
})

test('the slowest filters on the largest event take less than 200 ms of processor time', () => {
  const filters = compiled({
    browser_extensions: true,
    localhost: true,
    web_crawlers: true,
    messages: Array.from({ length: 100 }, (_, index) => `${'a*'.repeat(90)}${index}`),
    releases: Array.from({ length: 100 }, (_, index) => `*${index}*x`),
  })
  const event = eventOf({
    message: 'a'.repeat(8_000),
    error: { value: 'a'.repeat(8_000) },
  })
  const started = cpuMs()
  expect(filteredEvent(filters, event, { clientIp: null, userAgent: null, claimedAddress: null })).toBeNull()
  expect(cpuMs() - started).toBeLessThan(200)
})
