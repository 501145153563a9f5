import { hash } from 'node:crypto'
import { groupingVersions, type GroupingVersion } from '#server/grouping/registry.ts'

/** A version of grouping that exists in tests only, so that moving to a newer one can be proved before there is one. */
export const TEST_GROUPING_VERSION = 1_000

/** Events meet by the type of their error alone, unless somebody says otherwise. */
const byType: GroupingVersion = (event, rule) => {
  const given = event.fingerprint ?? rule
  const value = given === null ? (event.error_type ?? event.title) : given.join('\n')
  return {
    hash: hash('sha256', JSON.stringify([TEST_GROUPING_VERSION, value]), 'buffer'),
    parts: [{ variant: 'type_value', values: [{ label: 'type', value }] }],
  }
}

/** Makes it known to this process, as the newest version. */
export function addGroupingVersion(group: GroupingVersion = byType): void {
  ;(groupingVersions as Map<number, GroupingVersion>).set(TEST_GROUPING_VERSION, group)
}
