import { QueryClient } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import { boldParts, groupPaletteRows, kindOfPlace, knownIssues, matchesWords, type PaletteRow } from './palette-rows.ts'

const issue = (short_id: string, title: string, last_seen: string) => ({
  id: `id-${short_id}`,
  short_id,
  title,
  last_seen,
  severity: 'high' as const,
  more: 1,
})

test('issues any page holds are found, the beginning of the title before the rest, then by recency', () => {
  const client = new QueryClient()
  client.setQueryData(['issues', 'list'], {
    items: [
      issue('A-1', 'Failed checkout', '2026-11-19T10:00:00Z'),
      issue('A-2', 'Checkout crashed', '2026-11-18T10:00:00Z'),
    ],
  })
  client.setQueryData(['issues', 'pages'], {
    pages: [
      {
        items: [issue('A-3', 'Checkout stuck', '2026-11-19T12:00:00Z'), issue('A-4', 'Other', '2026-11-19T12:00:00Z')],
      },
    ],
  })
  client.setQueryData(['issues', 'detail'], issue('A-1', 'Failed checkout', '2026-11-19T10:00:00Z'))
  client.setQueryData(['issues', 'open-count', null], 12)
  expect(knownIssues(client, 'checkout').map(({ short_id }) => short_id)).toEqual(['A-3', 'A-2', 'A-1'])
  expect(knownIssues(client, 'a-4').map(({ short_id }) => short_id)).toEqual(['A-4'])
})

test('the typed text is printed bold', () => {
  expect(boldParts('CheckoutFragment', 'out')).toEqual([
    { text: 'Check', bold: false },
    { text: 'out', bold: true },
    { text: 'Fragment', bold: false },
  ])
  expect(boldParts('Check', 'CHECK')).toEqual([{ text: 'Check', bold: true }])
  expect(boldParts('Check', '')).toEqual([{ text: 'Check', bold: false }])
})

test('groups keep their order, empty ones are left out', () => {
  const row = (group: PaletteRow['group'], key: string): PaletteRow => ({
    key,
    group,
    label: key,
    icon: { kind: 'icon', name: 'right' },
    run: () => undefined,
  })
  expect(groupPaletteRows([row('commands', 'c'), row('issues', 'i')]).map(({ name }) => name)).toEqual([
    'commands',
    'issues',
  ])
})

test('typed words find a row by the beginnings of its words, longer ones inside too', () => {
  expect(matchesWords('api', ['API keys', 'Organisation'])).toBe(true)
  expect(matchesWords('keys shop', ['Keys', 'shopper-web'])).toBe(true)
  expect(matchesWords('shopper-web', ['Keys', 'shopper-web', undefined])).toBe(true)
  expect(matchesWords('per', ['shopper'])).toBe(true)
  expect(matchesWords('ey', ['Keys'])).toBe(false)
  expect(matchesWords('keys orders', ['Keys', 'shopper-web'])).toBe(false)
})

test('the kind of a place that is no page of its own is known by its address', () => {
  expect(
    ['/issues/0199?event=1', '/performance/t/GET%20%2F', '/projects/0199/settings/keys', '/traces/00ff'].map(
      kindOfPlace,
    ),
  ).toEqual(['issue', 'transaction', 'settings', 'trace'])
  expect(['/issues?query=x', '/traces', '/overview?project=1', '/alerts/rules'].map(kindOfPlace)).toEqual([
    null,
    null,
    null,
    null,
  ])
})
