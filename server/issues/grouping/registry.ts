import type { Event } from '../../events/protocol/event.api.ts'
import type { GroupingPart } from './grouping.api.ts'
import { fingerprintV2 } from './v2.ts'
import { fingerprintV3 } from './v3.ts'

/**
 * A grouping version. It never changes once events were grouped by it.
 * @param rule the fingerprint of a project's rule; null elements stand for the fingerprint without rules
 */
export type GroupingVersion = (
  event: Event,
  rule: readonly (string | null)[] | null,
) => { hash: Buffer; parts: GroupingPart[] }

/** All versions; version 1 was never released. A project keeps its version until a member changes it. */
export const groupingVersions: ReadonlyMap<number, GroupingVersion> = new Map([
  [2, fingerprintV2],
  [3, fingerprintV3],
])

/** Versions that a project can change to, oldest first. */
export const newerVersions = (version: number): number[] =>
  [...groupingVersions.keys()].filter((one) => one > version).toSorted((a, b) => a - b)
