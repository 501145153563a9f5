import type { Event } from '../protocol/event.api.ts'
import type { GroupingPart } from './grouping.api.ts'
import { groupingVersions, LATEST_GROUPING_VERSION } from './registry.ts'

export type Grouping = {
  version: number
  /** SHA-256, 32 bytes. */
  hash: Buffer
  parts: GroupingPart[]
}

/**
 * Why two events are one issue: equal hashes under one version. The parts say what the hash was made of.
 * Throws a RangeError for a version that never existed; never for anything in the event.
 */
export function fingerprint(event: Event, options: { version?: number } = {}): Grouping {
  const version = options.version ?? LATEST_GROUPING_VERSION
  const group = groupingVersions.get(version)
  if (group === undefined) throw new RangeError(`There is no grouping version ${version}.`)
  return { version, ...group(event) }
}
