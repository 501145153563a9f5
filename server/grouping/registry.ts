import type { Event } from '../protocol/event.api.ts'
import type { GroupingPart } from './grouping.api.ts'
import { fingerprintV1 } from './v1.ts'

/** Every version of grouping there has been. A project stays with its version until someone moves it. */
export const groupingVersions: ReadonlyMap<number, (event: Event) => { hash: Buffer; parts: GroupingPart[] }> = new Map(
  [[1, fingerprintV1]],
)

/** What new projects get. */
export const LATEST_GROUPING_VERSION = 1
