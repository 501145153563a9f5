import { ownRows } from '../../platform/storage/own-rows.ts'
import { projectPart } from '../../projects/registry/project-rows.ts'

export const DISCARD_PARTS = [
  projectPart(1_000, [ownRows('discarded_fingerprints')]),
  projectPart(1_000, [ownRows('discards')]),
]
