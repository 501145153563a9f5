import { expect, test } from 'vitest'
import type { Snapshot } from './bulk.queries.ts'
import { undoChange } from './undo-issues.ts'

const open: Snapshot = {
  status: 'unresolved',
  status_reason: null,
  status_changed_at: '2026-11-01T00:00:00+00:00',
  open_since: '2026-11-01T00:00:00+00:00',
  resolved_at: null,
  resolved_in_release: null,
  resolution: null,
  pending_commit: null,
  ignore_until: null,
  ignore_progress: null,
  unignore_at: null,
  escalated_at: null,
  over_limit_at: null,
  severity: 2,
  severity_pinned: false,
  assignee_id: null,
}
const resolved: Snapshot = {
  ...open,
  status: 'resolved',
  status_changed_at: '2026-11-20T00:00:00+00:00',
  resolved_at: '2026-11-20T00:00:00+00:00',
  resolution: { kind: 'now', automatic: false, late: null },
}

test('restores all columns of the changed parts, and keeps the others', () => {
  const now = { ...resolved, severity: 3, assignee_id: 'grace' }
  expect(undoChange(open, resolved, now)).toEqual({
    parts: ['status'],
    snapshot: { ...open, severity: 3, assignee_id: 'grace' },
  })
})

test('late events that were only counted do not prevent undo', () => {
  const now = { ...resolved, resolution: { kind: 'now', automatic: false, late: { before: 2 } } }
  expect(undoChange(open, resolved, now)).toMatchObject({ snapshot: { status: 'unresolved', resolution: null } })
})

test.each<[string, Snapshot, Snapshot, string]>([
  ['regressed since', resolved, { ...open, status: 'regressed', status_changed_at: 'later' }, 'status is regressed'],
  ['resolved again since', resolved, { ...resolved, status_changed_at: 'later' }, 'status is resolved'],
  ['assigned since', { ...open, assignee_id: 'ada' }, { ...open, assignee_id: 'grace' }, 'another assignee'],
  [
    'pinned since',
    { ...open, severity: 0, severity_pinned: true },
    { ...open, severity: 1, severity_pinned: true },
    'another severity',
  ],
])('an issue that was changed since stays: %s', (_name, after, now, sentence) => {
  expect(undoChange(open, after, now)).toEqual({ error: expect.stringContaining(sentence) as unknown })
})

test('restores the severity of an escalated issue that was resolved', () => {
  const escalated = { ...open, status: 'escalated', severity: 3 }
  expect(undoChange(escalated, { ...resolved, severity: 2 }, { ...resolved, severity: 2 })).toMatchObject({
    snapshot: { status: 'escalated', severity: 3, severity_pinned: false },
  })
})
