import { expect, test } from 'vitest'
import type { WebhookEndpoint } from '../../../api/webhook-queries.ts'
import { endpointChangeBody, newEndpointBody, toEndpointDraft, endpointProblems } from './endpoint-form.ts'

const endpoint: WebhookEndpoint = {
  id: '019a0000-0000-7000-8000-000000000001',
  app_id: 'app_01kbn2a0d8f5s7j3r9x6qk4mtp',
  url: 'https://ops.example.com/hooks',
  description: 'Operations',
  events: ['device.new'],
  secret_prefix: 'whsec_4kQ8aa',
  state: 'active',
  last_status: null,
  last_attempt_at: null,
  needs_attention: false,
  ordering: 'none',
  max_per_second: 5,
  auto_pause: false,
  standard_headers: false,
  headers: [{ name: 'X-Api-Key', value: '••••' }],
  headers_unreadable: false,
  overlap_ends_at: null,
  tls_error: null,
  days: [],
  success_rate: null,
  created_at: '2026-11-19T14:05:03Z',
  updated_at: '2026-11-19T14:05:03Z',
}

test('a new endpoint receives all events, without options', () => {
  const draft = { ...toEndpointDraft(null), url: ' https://ops.example.com/hooks ' }
  expect(endpointProblems(draft)).toEqual(new Set())
  expect(newEndpointBody(draft)).toEqual({
    url: 'https://ops.example.com/hooks',
    description: '',
    events: [],
    ordering: 'none',
    max_per_second: null,
    auto_pause: false,
    standard_headers: false,
    headers: [],
  })
})

test('an edit sends only what differs', () => {
  const draft = toEndpointDraft(endpoint)
  expect(endpointChangeBody(draft, endpoint)).toBeNull()
  expect(endpointChangeBody({ ...draft, isStrict: true, rate: '' }, endpoint)).toEqual({
    ordering: 'strict',
    max_per_second: null,
  })
  expect(endpointChangeBody({ ...draft, isAll: true }, endpoint)).toEqual({ events: [] })
})

test('a stored value of a header is kept unless another is typed', () => {
  const draft = toEndpointDraft(endpoint)
  const added = { key: 'added', name: ' X-Team ', value: 'ops', isStored: false }
  expect(endpointChangeBody({ ...draft, headers: [...draft.headers, added] }, endpoint)).toEqual({
    headers: [{ name: 'X-Api-Key' }, { name: 'X-Team', value: 'ops' }],
  })
  const [stored] = draft.headers
  expect(
    endpointChangeBody({ ...draft, headers: stored === undefined ? [] : [{ ...stored, value: 'new' }] }, endpoint),
  ).toEqual({
    headers: [{ name: 'X-Api-Key', value: 'new' }],
  })
  expect(endpointChangeBody({ ...draft, headers: [] }, endpoint)).toEqual({ headers: [] })
})

test('says what is missing', () => {
  const draft = toEndpointDraft(null)
  const blank = { key: 'a', name: '', value: '', isStored: false }
  expect(endpointProblems({ ...draft, headers: [blank] })).toEqual(new Set(['url']))
  expect(
    endpointProblems({
      ...draft,
      url: 'ftp://example.com',
      isAll: false,
      rate: '2000',
      headers: [{ ...blank, name: 'X-Api-Key' }],
    }),
  ).toEqual(new Set(['url', 'types', 'rate', 'headers']))
})
