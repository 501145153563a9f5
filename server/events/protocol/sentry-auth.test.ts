import { describe, expect, test } from 'vitest'
import { checkDsn, parseDsn, readAuth } from './sentry-auth.ts'

const K = '0123456789abcdef0123456789abcdef'
const OTHER = 'f'.repeat(32)
const invalid: unknown = expect.objectContaining({ code: 'invalid' })

describe('readAuth finds the key', () => {
  test.each([
    [
      'X-Sentry-Auth',
      { xSentryAuth: `Sentry sentry_key=${K}, sentry_version=7, sentry_client=sentry.python/2.68.0` },
      'sentry.python/2.68.0',
    ],
    [
      'without spaces, as from Java',
      { xSentryAuth: `Sentry sentry_version=7,sentry_client=sentry.java/8.53.0,sentry_key=${K}` },
      'sentry.java/8.53.0',
    ],
    ['with a lower-case scheme, as OTLP exporters do', { xSentryAuth: `sentry sentry_key=${K}` }, null],
    ['percent-encoded as a whole', { xSentryAuth: `Sentry%20sentry_key%3D${K}%2C%20sentry_version%3D7` }, null],
    ['with percent-encoded values', { xSentryAuth: `Sentry sentry_key=${K}, sentry_client=name%2F1.0` }, 'name/1.0'],
    [
      'of raven, with a secret and version 5',
      {
        xSentryAuth: `Sentry sentry_version=5, sentry_timestamp=1, sentry_client=raven-node/2.6.4, sentry_key=${K}, sentry_secret=${OTHER}`,
      },
      'raven-node/2.6.4',
    ],
    ['sent twice and joined', { xSentryAuth: `Sentry sentry_key=${K}, Sentry sentry_key=${K}` }, null],
    ['Authorization: Sentry', { authorization: `Sentry sentry_key=${K}, sentry_client=a/1` }, 'a/1'],
    ['Authorization: Basic', { authorization: `Basic ${Buffer.from(`${K}:`).toString('base64')}` }, null],
    [
      'query',
      { query: `sentry_version=7&sentry_key=${K}&sentry_client=sentry.javascript.node%2F11.12.0` },
      'sentry.javascript.node/11.12.0',
    ],
    ['path', { pathKey: K }, null],
    [
      'header and query alike',
      { xSentryAuth: `Sentry sentry_key=${K}, sentry_client=a/1`, query: `sentry_key=${K}&sentry_client=b/1` },
      'a/1',
    ],
    [
      'next to credentials of a proxy',
      {
        xSentryAuth: `Sentry sentry_key=${K}`,
        authorization: `Basic ${Buffer.from('proxy:secret').toString('base64')}`,
      },
      null,
    ],
    ['next to a bearer token', { query: `sentry_key=${K}`, authorization: 'Bearer abc' }, null],
  ])('%s', (_name, places, client) => expect(readAuth(places)).toEqual({ key: K, client }))
})

test.each([
  [{}],
  [{ xSentryAuth: 'Sentry sentry_version=7' }],
  [{ query: 'a=1&b' }],
  [{ authorization: 'Bearer abc' }],
  [{ authorization: 'Basic !!!' }],
])('no key: %j', (places) => expect(readAuth(places)).toBeNull())

describe('readAuth refuses', () => {
  test.each([
    ['two different keys', { xSentryAuth: `Sentry sentry_key=${K}`, query: `sentry_key=${OTHER}` }],
    ['two different keys in one header', { xSentryAuth: `Sentry sentry_key=${K}, sentry_key=${OTHER}` }],
    ['two different keys in the query', { query: `sentry_key=${K}&sentry_key=${OTHER}` }],
    ['a short key', { query: 'sentry_key=abc' }],
    ['an upper-case key', { query: `sentry_key=${K.toUpperCase()}` }],
    ['an empty key', { xSentryAuth: 'Sentry sentry_key=' }],
    ['version 8', { query: `sentry_key=${K}&sentry_version=8` }],
    ['a version in words', { query: `sentry_key=${K}&sentry_version=seven` }],
    ['a broken escape', { query: 'sentry_key=%zz' }],
  ])('%s', (_name, places) => expect(() => readAuth(places)).toThrow(invalid))
})

describe('dsn', () => {
  test.each([
    [`https://${K}@host.example/4501`, K, '4501'],
    [`https://${K}:${OTHER}@host:9000/4501/`, K, '4501'],
    [`http://${K}@[::1]:8000/base/path/7`, K, '7'],
  ])('%s', (text, publicKey, projectNumber) => expect(parseDsn(text)).toEqual({ publicKey, projectNumber }))

  test.each([
    '',
    'https://host/1',
    `https://${K}@host`,
    `https://${K}@host/`,
    `https://${K}@host/abc`,
    `https://short@host/1`,
    `https://${K}@host/1?x=1`,
    `https://${K}@${'a/'.repeat(5000)}1`,
  ])('malformed: %s', (text) => expect(() => parseDsn(text)).toThrow(invalid))

  test('is compared with key and project of the request', () => {
    const dsn = `https://${K}@anywhere/4501`
    expect(checkDsn(dsn, null, '4501')).toBe(K)
    expect(checkDsn(dsn, K, '4501')).toBe(K)
    expect(checkDsn(null, K, '4501')).toBe(K)
    expect(() => checkDsn(dsn, OTHER, '4501')).toThrow(invalid)
    expect(() => checkDsn(dsn, K, '4502')).toThrow(invalid)
    expect(() => checkDsn(null, null, '4501')).toThrow(expect.objectContaining({ code: 'unauthenticated' }))
  })
})
