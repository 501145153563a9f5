import fc from 'fast-check'
import { expect, test } from 'vitest'
import { eventOf } from './event.fixture.ts'
import { fingerprint } from './grouping.ts'

/** Chains and groups of exceptions under version 2. */

const error = fc.record({
  type: fc.constantFrom('ValueError', 'KeyError', 'OSError'),
  function: fc.constantFrom('pay', 'load', 'save'),
  in_app: fc.boolean(),
})
type Member = { readonly type: string; readonly function: string; readonly in_app: boolean }

const group = (members: readonly Member[]) =>
  eventOf({
    platform: 'python',
    exception: {
      values: [
        ...members.map((one, at) => ({
          type: one.type,
          value: `member ${at}`,
          mechanism: { type: 'chained', exception_id: at + 1, parent_id: 0, source: `exceptions[${at}]` },
          stacktrace: { frames: [{ function: one.function, module: 'shop', in_app: one.in_app, lineno: at }] },
        })),
        { type: 'ExceptionGroup', mechanism: { type: 'x', exception_id: 0, is_exception_group: true } },
      ],
    },
  })
const hashOf = (members: readonly Member[]): string => fingerprint(group(members)).hash.toString('hex')

test('a group counts by its different members, not by their order or number', () => {
  fc.assert(
    fc.property(
      fc
        .array(error, { minLength: 1, maxLength: 6 })
        .chain((members) =>
          fc.tuple(
            fc.constant(members),
            fc.shuffledSubarray(members, { minLength: members.length }),
            fc.array(fc.constantFrom(...members), { maxLength: 3 }),
          ),
        ),
      ([members, shuffled, again]) => {
        expect(hashOf([...shuffled, ...again])).toBe(hashOf(members))
      },
    ),
  )
})

test('a group with another member has another fingerprint', () => {
  fc.assert(
    fc.property(fc.array(error, { minLength: 1, maxLength: 5 }), error, (members, other) => {
      const isKnown = members.some((one) => JSON.stringify(one) === JSON.stringify(other))
      // Frames of a library count like those of the app when there are no others.
      const isAlike = members.some((one) => one.type === other.type && one.function === other.function)
      if (isKnown || isAlike) return
      expect(hashOf([...members, other])).not.toBe(hashOf(members))
    }),
  )
})

test('contradictory or circular ids do not loop for ever', () => {
  const id = fc.constantFrom(0, 1, 2, 3, -1, null)
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          type: fc.constantFrom('A', 'B', null),
          mechanism: fc.record({
            type: fc.constantFrom('chained', 'suppressed'),
            exception_id: id,
            parent_id: id,
            is_exception_group: fc.boolean(),
          }),
          stacktrace: fc.constantFrom(null, { frames: [{ function: 'pay', in_app: true }] }),
        }),
        { maxLength: 6 },
      ),
      (values) => {
        const event = eventOf({ platform: 'python', exception: { values } })
        expect(fingerprint(event).hash).toHaveLength(32)
        expect(fingerprint(event).parts[0]?.values.length).toBeGreaterThan(0)
      },
    ),
    { numRuns: 2_000 },
  )
})
