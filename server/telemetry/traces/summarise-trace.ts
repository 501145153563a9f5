import type { Assembled, PlacedSpan } from './assemble-trace.ts'
import { criticalPath } from './critical-path.ts'

/** The data of a trace that its list shows and filters. */
export type TraceSummary = {
  readonly startMs: number
  readonly durationMs: number
  readonly name: string
  readonly op: string
  /** A segment failed. */
  readonly failed: boolean
  readonly spanCount: number
  /** The project of the first span first. */
  readonly projects: readonly ProjectShare[]
  readonly names: readonly string[]
  readonly releases: readonly string[]
  readonly environments: readonly string[]
  /** `key:value` of attributes and tags of segments. */
  readonly tags: readonly string[]
}

/** The part of a project in a trace. */
type ProjectShare = {
  readonly project_id: string
  readonly spans: number
  /** Its time on the critical path, ms. */
  readonly path_ms: number
}

const MAX_NAMES = 50
const MAX_TAGS = 200

/** The name of a trace: of its first span, or of its first segment with a name. */
export const traceName = ({ root, spans }: Assembled): string =>
  root?.description || (spans.find((span) => span.is_segment && span.description !== '')?.description ?? '')

/** Sums up a trace, with the figures of its waterfall. Pure. */
export function summariseTrace(trace: Assembled): TraceSummary {
  const { spans, root } = trace
  const segments = spans.filter((span) => span.is_segment || span === root)
  return {
    startMs: trace.startMs,
    durationMs: trace.endMs - trace.startMs,
    name: traceName(trace),
    op: root?.op ?? '',
    failed: segments.some(({ status }) => status === 'error'),
    spanCount: spans.length,
    projects: shareByProject(trace),
    names: distinct(segments.map(({ description }) => description)),
    releases: distinct(segments.map(({ release }) => release ?? '')),
    environments: distinct(segments.map(({ environment }) => environment ?? '')),
    tags: distinct(segments.flatMap(tagsOf), MAX_TAGS),
  }
}

const distinct = (texts: readonly string[], max = MAX_NAMES): string[] =>
  [...new Set(texts.filter((text) => text !== ''))].slice(0, max)

const tagsOf = ({ data }: PlacedSpan): string[] => Object.entries(data).map(([key, value]) => `${key}:${String(value)}`)

/** The projects of a trace, in the order of their first spans. */
export function shareByProject({ spans, root }: Assembled): ProjectShare[] {
  const shares = new Map<string, { project_id: string; spans: number; path_ms: number }>()
  const of = (projectId: string) => {
    const share = shares.get(projectId) ?? { project_id: projectId, spans: 0, path_ms: 0 }
    shares.set(projectId, share)
    return share
  }
  if (root !== null) of(root.projectId)
  for (const { projectId } of spans) of(projectId).spans++
  if (root !== null)
    for (const { span, fromMs, toMs } of criticalPath(spans, root)) of(span.projectId).path_ms += toMs - fromMs
  return [...shares.values()]
}
