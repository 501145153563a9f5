import { expect, test } from 'vitest'
import type { Event } from '../../../../../server/events/protocol/event.api.ts'
import { safeUrl } from '../../../../ui/safe-url.ts'
import { listCardFacts } from './facts.ts'

const anEvent = (fields: Partial<Event>): Event => ({
  event_id: '9ec79c33ec9942ab8353589fcb2e04dc',
  received_at: '2026-11-20T05:00:00.000Z',
  occurred_at: '2026-11-20T05:00:00.000Z',
  type: 'error',
  platform: 'node',
  level: 'error',
  title: 'Error: it broke',
  culprit: '',
  logger: null,
  transaction: null,
  server_name: null,
  release: null,
  dist: null,
  environment: 'production',
  message: null,
  message_template: null,
  error_type: 'Error',
  error_value: 'it broke',
  is_unhandled: false,
  exceptions: [],
  threads: [],
  breadcrumbs: [],
  tags: [],
  user: null,
  request: null,
  contexts: {},
  extra: {},
  modules: {},
  sdk: null,
  debug_images: [],
  fingerprint: null,
  errors: [],
  ...fields,
})

const factsFrom = (fields: Partial<Event>): Record<string, string> =>
  Object.fromEntries(listCardFacts(anEvent(fields)).map((fact) => [fact.label, fact.value]))

test('the card shows the facts of a phone, with one unit if two values share it', () => {
  const facts = factsFrom({
    platform: 'java',
    release: 'shop@4.12.0',
    contexts: {
      device: {
        model: 'Pixel 7a',
        manufacturer: 'Google',
        memory_size: 5_600_000_000,
        free_memory: 200_000_000,
        storage_size: 128_000_000_000,
        free_storage: 17_000_000_000,
        battery_level: 18,
        charging: false,
      },
      os: { name: 'Android', version: '15' },
      app: { app_name: 'Shopper', app_version: '4.12.0', in_foreground: true },
    },
  })
  expect(facts).toMatchObject({
    Release: 'shop@4.12.0',
    Device: 'Google Pixel 7a',
    OS: 'Android 15',
    App: 'Shopper 4.12.0',
    Memory: '5.4 of 5.6\u202fGB',
    Storage: '17 of 128\u202fGB free',
    Battery: '18\u202f%, discharging',
    Foreground: 'yes',
  })
})

test('facts that were not sent are absent', () => {
  const facts = factsFrom({ platform: 'node', contexts: { runtime: { name: 'node', version: 'v26.10.0' } } })
  expect(facts).toMatchObject({ Runtime: 'node v26.10.0' })
  expect(Object.keys(facts)).not.toContain('Memory')
  expect(Object.keys(facts)).not.toContain('Battery')
})

test.each([
  ['https://shop.example/a?b=1', 'https://shop.example/a?b=1'],
  ['javascript:alert(1)', null],
  ['data:text/html,<script>', null],
  ['JaVaScRiPt:alert(1)', null],
  ['//evil.example', null],
  ['not an address', null],
])('%s may be a link to %s', (text, href) => expect(safeUrl(text)).toBe(href))
