import type { Event } from '../protocol/event.api.ts'
import type { GroupingPart } from './grouping.api.ts'
import { fingerprintV1 } from './v1.ts'
import { fingerprintV2 } from './v2.ts'

/**
 * One version of grouping. It never changes once events were grouped by it.
 * @param rule elements a rule of the project gives; null among them stands for what the version would have computed
 */
export type GroupingVersion = (
  event: Event,
  rule: readonly (string | null)[] | null,
) => { hash: Buffer; parts: GroupingPart[] }

/** Every version there has been. A project stays with its version until someone moves it. */
export const groupingVersions: ReadonlyMap<number, GroupingVersion> = new Map([
  [1, fingerprintV1],
  [2, fingerprintV2],
])

/** Versions a project of this one can be moved to, oldest first. */
export const newerVersions = (version: number): number[] =>
  [...groupingVersions.keys()].filter((one) => one > version).toSorted((a, b) => a - b)
