import { expect, test } from 'vitest'
import type { SettledAttempt } from '../../platform/outbox/channel.ts'
import { afterAttempts, type Health, isHopeless } from './endpoint-health.ts'

const START = Date.parse('2026-11-20T12:00:00Z')
const at = (seconds: number) => new Date(START + seconds * 1_000)

const NEW: Health = {
  lastStatus: null,
  lastAttemptAt: null,
  lastDeliveredAt: null,
  failingSince: null,
  failedAttempts: 0,
  tlsError: null,
  tlsAudited: {},
}

let deliveries = 0

function anAttempt(seconds: number, status: number | null, tls?: string): SettledAttempt {
  return {
    delivery: {
      id: `d_${++deliveries}`,
      laneId: 'e',
      orgId: 'o',
      messageId: 'm',
      type: 't',
      body: Buffer.alloc(0),
      secretVersion: 1,
      trigger: 'schedule',
      n: 1,
    },
    result: {
      outcome: status === 200 ? 'delivered' : 'failed',
      status,
      errorCode: tls ?? null,
      errorText: tls === undefined ? null : `text of ${tls}`,
      durationMs: 1,
      details: tls === undefined ? {} : { error_kind: 'tls' },
    },
    startedAt: at(seconds - 1),
    endedAt: at(seconds),
    isExhausted: false,
  }
}

test('the newest attempt decides, in whatever order they are recorded', () => {
  const { health } = afterAttempts(NEW, [anAttempt(3, 500), anAttempt(1, 200), anAttempt(2, null)])
  expect(health).toMatchObject({
    lastStatus: 500,
    lastAttemptAt: at(3),
    lastDeliveredAt: at(1),
    failingSince: at(1),
    failedAttempts: 2,
  })
  const late = afterAttempts(health, [anAttempt(2, 503)]).health
  expect(late).toMatchObject({ lastStatus: 500, lastAttemptAt: at(3) })
})

test('a success ends the count of failures and the error of TLS', () => {
  const failing = afterAttempts(NEW, [anAttempt(1, null, 'CERT_HAS_EXPIRED')]).health
  expect(failing).toMatchObject({
    failedAttempts: 1,
    tlsError: { code: 'CERT_HAS_EXPIRED', text: 'text of CERT_HAS_EXPIRED' },
  })
  expect(afterAttempts(failing, [anAttempt(2, 200)]).health).toMatchObject({
    lastStatus: 200,
    failingSince: null,
    failedAttempts: 0,
    tlsError: null,
  })
})

test('an error of TLS is audited once a minute and code, in one batch as over several', () => {
  const codes = (seconds: number, code: string, before: Health) => {
    const after = afterAttempts(before, [anAttempt(seconds, null, code), anAttempt(seconds, null, code)])
    return { ...after, codes: after.tlsErrors.map((error) => error.code) }
  }
  const first = codes(1, 'A', NEW)
  const other = codes(2, 'B', first.health)
  const again = codes(3, 'A', other.health)
  const success = afterAttempts(again.health, [anAttempt(4, 200)])
  const afterSuccess = codes(59, 'A', success.health)
  const nextMinute = codes(60, 'A', afterSuccess.health)
  expect([first, other, again, afterSuccess, nextMinute].map((after) => after.codes)).toEqual([
    ['A'],
    ['B'],
    [],
    [],
    ['A'],
  ])
  expect(Object.keys(nextMinute.health.tlsAudited)).toEqual(['A'])
})

test('an endpoint is hopeless after 120 hours and 20 attempts', () => {
  const failingSince = at(0)
  const hours = (count: number) => at(count * 3_600)
  expect(isHopeless({ failingSince, failedAttempts: 20 }, hours(120))).toBe(true)
  expect(isHopeless({ failingSince, failedAttempts: 19 }, hours(1_000))).toBe(false)
  expect(isHopeless({ failingSince, failedAttempts: 1_000 }, new Date(hours(120).getTime() - 1))).toBe(false)
  expect(isHopeless({ failingSince: null, failedAttempts: 0 }, hours(1_000))).toBe(false)
})

test('after the clock of the database jumped back, the next attempt is the newest', () => {
  const { health } = afterAttempts(NEW, [anAttempt(3_600, 500)])
  const after = afterAttempts(health, [anAttempt(0, 200)]).health
  expect(after).toMatchObject({ lastStatus: 200, lastAttemptAt: at(0), lastDeliveredAt: at(0) })
  expect(afterAttempts(after, [anAttempt(-9, 500)]).health).toMatchObject({ lastStatus: 200, lastAttemptAt: at(0) })
})
