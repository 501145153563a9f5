import { hash } from 'node:crypto'
import type { Event } from '../../events/protocol/event.api.ts'
import { VARIABLE, type GroupingRules } from './grouping-rules.api.ts'
import { compileGrouping, knownVersion, type GroupingSettings } from './grouping.ts'

/** The grouping of a project for flood sampling, which fingerprints events before digestion. */
export type FloodGrouping = {
  /** Equal for groupings with equal results. */
  readonly id: string
  /** Fields that the project's rules read in addition to those of the version; `abs_path` is a field of frames. */
  readonly reads: ReadonlySet<string>
  /** The fingerprint, base64. */
  readonly fingerprintOf: (event: Event) => string
}

/** Cheap, because rules are compiled at their first use. */
export function floodGrouping(settings: GroupingSettings): FloodGrouping {
  const { grouping_rules: rules } = settings
  const version = knownVersion(settings.grouping_version)
  const hasRules = rules.fingerprint.length + rules.stack.length > 0
  let group: ReturnType<typeof compileGrouping> | null = null
  return {
    id: hasRules ? `${version} ${hash('sha256', JSON.stringify(rules), 'base64')}` : `${version}`,
    reads: hasRules ? fieldsRead(rules) : NOTHING,
    fingerprintOf(event) {
      // Kinds are distinguished by the present version only.
      group ??= compileGrouping({ ...settings, grouping_transition: null })
      return group(event, LONG_AGO).fingerprint.hash.toString('base64')
    },
  }
}

const NOTHING: ReadonlySet<string> = new Set()
const LONG_AGO = new Date(0)

/** The payload's fields that a matcher or variable reads; release and environment may be tags. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  value: ['value'],
  level: ['level'],
  release: ['release', 'tags'],
  environment: ['environment', 'tags'],
  transaction: ['transaction'],
  logger: ['logger'],
  path: ['abs_path'],
  'tag.server_name': ['server_name', 'tags'],
}

function fieldsRead({ fingerprint, stack }: GroupingRules): ReadonlySet<string> {
  const names = [...fingerprint, ...stack].flatMap(({ match }) => match.map(({ key }) => key))
  for (const { fingerprint: elements } of fingerprint)
    for (const element of elements) for (const [, name = ''] of element.matchAll(VARIABLE)) names.push(name)
  return new Set(names.flatMap((name) => FIELDS[name] ?? (name.startsWith('tag.') ? ['tags'] : [])))
}
