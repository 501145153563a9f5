import { hash } from 'node:crypto'
import { groupingVersions, type GroupingVersion } from '#server/issues/grouping/registry.ts'

/** A grouping version that exists in tests only, to test the move to a newer version before there is one. */
export const TEST_GROUPING_VERSION = 1_000

/** Groups events by the type of their error alone, unless the test gives another rule. */
const byType: GroupingVersion = (event, rule) => {
  const given = event.fingerprint ?? rule
  const value = given === null ? (event.error_type ?? event.title) : given.join('\n')
  return {
    hash: hash('sha256', JSON.stringify([TEST_GROUPING_VERSION, value]), 'buffer'),
    parts: [{ variant: 'type_value', values: [{ label: 'type', value }] }],
  }
}

const registry = groupingVersions as Map<number, GroupingVersion>

/** Registers it in this process as the newest version, until the test's app closes. */
export function addGroupingVersion(group: GroupingVersion = byType): void {
  registry.set(TEST_GROUPING_VERSION, group)
}

/** Test files share processes. */
export const removeGroupingVersion = (): void => void registry.delete(TEST_GROUPING_VERSION)
