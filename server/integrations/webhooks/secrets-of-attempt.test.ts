import { expect, test } from 'vitest'
import { secretsOfAttempt } from './secrets-of-attempt.ts'

const NOW = new Date('2026-11-20T12:00:00Z')
const LATER = new Date('2026-11-20T12:00:01Z')

const versions = (
  stored: Readonly<Record<number, Date | null>>,
  trigger: 'schedule' | 'replay',
  pinned: number | null,
): number[] => {
  const secrets = Object.entries(stored).map(([version, overlapUntil]) => ({ version: Number(version), overlapUntil }))
  const current = Math.max(...secrets.map(({ version }) => version))
  return secretsOfAttempt(secrets, current, { trigger, pinned, now: NOW }).map(({ version }) => version)
}

test.each([
  ['before any rotation', { 1: null }, 'schedule', 1, [1]],
  ['a retry keeps the secret of its event', { 1: null, 2: null }, 'schedule', 1, [1]],
  ['a later event has the new one', { 1: null, 2: null }, 'schedule', 2, [2]],
  ['a replay has the new one', { 1: null, 2: null }, 'replay', 1, [2]],
  ['in an overlap both sign a retry, newest first', { 1: LATER, 2: null }, 'schedule', 1, [2, 1]],
  ['in an overlap both sign a new event', { 1: LATER, 2: null }, 'schedule', 2, [2, 1]],
  ['in an overlap both sign a replay', { 1: LATER, 2: null }, 'replay', 1, [2, 1]],
  ['an overlap that has ended', { 1: NOW, 2: null }, 'schedule', 2, [2]],
  ['an event from before the overlap', { 1: null, 2: LATER, 3: null }, 'schedule', 1, [3, 2, 1]],
  ['a pinned secret that was deleted', { 2: null }, 'schedule', 1, [2]],
  ['no pinned secret', { 1: null }, 'schedule', null, [1]],
] as const)('%s', (_name, stored, trigger, pinned, expected) => {
  expect(versions(stored, trigger, pinned)).toEqual(expected)
})
