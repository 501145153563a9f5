import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  AuditSearch,
  IssueSearch,
  IssuesSearch,
  LoginSearch,
  OnboardingSearch,
  parseSearch,
  ShellSearch,
  stringifySearch,
  WebhooksSearch,
} from './search.ts'

const names = fc.constantFrom(
  'project',
  'range',
  'status',
  'severity',
  'platform',
  'q',
  'sort',
  'assignee',
  'cursor',
  'x',
)
const values = fc.oneof(
  fc.string(),
  fc.constantFrom(
    '7d',
    'resolved',
    'ignored',
    'high',
    'node',
    'severity',
    'me',
    '019a0000-0000-7000-8000-000000000001',
  ),
)

const PROJECT = '019a0000-0000-7000-8000-000000000001'

describe('the issues stream', () => {
  test('keeps every query that the API accepts, since saved views may contain it', () => {
    const q = 'timeout '.repeat(1_250)
    expect(IssuesSearch.parse({ q }).q).toBe(q)
  })

  test('keeps known parameters', () => {
    const search = parseSearch(
      `?project=${PROJECT}&range=7d&status=resolved&status=ignored&severity=high&q=is%3Aunresolved+timeout&sort=-event_count&assignee=me`,
    )
    expect(IssuesSearch.parse(search)).toEqual({
      project: PROJECT,
      range: '7d',
      status: ['ignored', 'resolved'],
      severity: ['high'],
      q: 'is:unresolved timeout',
      sort: '-event_count',
      assignee: 'me',
    })
  })

  test('drops unknown parameters and values silently', () => {
    const search = parseSearch(
      '?project=all&range=2h&status=open&status=resolved&severity=huge&sort=colour&assignee=%3Cscript%3E&cursor=&colour=red',
    )
    expect(IssuesSearch.parse(search)).toEqual({ status: ['resolved'] })
  })

  test('never throws, for any address', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom(
            'project',
            'range',
            'status',
            'severity',
            'platform',
            'q',
            'sort',
            'assignee',
            'cursor',
            'event',
            'tab',
            'next',
            'step',
            'endpoint',
            'delivery',
            'type',
            'from',
            'action',
            'entry',
          ),
          fc.anything(),
        ),
        (search) => {
          for (const schema of [
            ShellSearch,
            IssuesSearch,
            IssueSearch,
            LoginSearch,
            OnboardingSearch,
            WebhooksSearch,
            AuditSearch,
          ])
            expect(() => schema.parse(search)).not.toThrow()
        },
      ),
    )
  })

  test('a parsed address that is written and parsed again is the same', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(names, values)), (given) => {
        const once = IssuesSearch.parse(parseSearch(`?${new URLSearchParams(given).toString()}`))
        expect(IssuesSearch.parse(parseSearch(stringifySearch(once)))).toEqual(once)
      }),
    )
  })
})

test('an event is `oldest` or an id', () => {
  expect(IssueSearch.parse({ event: 'oldest' })).toEqual({ event: 'oldest' })
  expect(IssueSearch.parse({ event: '9f3c1e0452f64c1ab2b4d1d0c9a8b7e6' })).toHaveProperty('event')
  expect(IssueSearch.parse({ event: '../../me' })).toEqual({})
})

test('a delivery log keeps what can be filters and ids', () => {
  const delivery = 'd_01kbn2q6x4e7v9c3m8t5hw0001'
  const search = { endpoint: PROJECT, delivery, state: 'failed', type: 'device.new', from: '2026-11-20' }
  expect(WebhooksSearch.parse(search)).toEqual(search)
  expect(
    WebhooksSearch.parse({ endpoint: '1', delivery: 'd_1', state: 'open', type: '<b>', from: '2026-13-40', to: 'x' }),
  ).toEqual({})
})

test('an audit filter is an action, or the beginning of one', () => {
  expect(AuditSearch.parse({ action: 'webhook.*', actor: 'ines@example.com' })).toEqual({
    action: 'webhook.*',
    actor: 'ines@example.com',
  })
  expect(AuditSearch.parse({ action: '*.created', target: '' })).toEqual({})
})

test('the address after logging in is a path of this site', () => {
  const next = (given: unknown) => LoginSearch.parse({ next: given }).next
  expect(next('/issues?range=7d')).toBe('/issues?range=7d')
  expect(next('//evil.example')).toBeUndefined()
  expect(next('/\\evil.example')).toBeUndefined()
  expect(next('https://evil.example')).toBeUndefined()
  expect(next('javascript:alert(1)')).toBeUndefined()
})

test('addresses are plain query strings', () => {
  expect(
    stringifySearch({ status: ['resolved', 'ignored'], q: 'a b', range: undefined, empty: '', odd: { a: 1 } }),
  ).toBe('?status=resolved&status=ignored&q=a+b')
  expect(stringifySearch({})).toBe('')
  expect(parseSearch('?a=1&a=2&b=3')).toEqual({ a: ['1', '2'], b: '3' })
})
