import type { App } from '../../platform/context/app.ts'
import { compareReleases } from '../../projects/releases/order.ts'
import { isSameApp } from '../../projects/releases/version.ts'
import { measuredReleases } from './compared.queries.ts'
import type { Question } from './question.ts'
import { chooseGrain } from './read-performance.ts'

/** With fewer values a release says nothing about a percentile. */
export const MIN_COMPARED = 20

export type ComparedReleases = { readonly release: string; readonly previous: string }

/**
 * The newest measured release of those asked for, and the one before it of its app among all that were measured in the
 * range; null without two.
 */
export async function comparedReleases(app: App, { now }: Question): Promise<ComparedReleases | null> {
  const { release: asked, ...filter } = now.filter
  const scope = { ...now, filter, metrics: ['duration'] as const }
  const measured = await measuredReleases(app.db, scope, chooseGrain(filter, 'release'), MIN_COMPARED)
  const newestFirst = measured.sort((a, b) => compareReleases(b, a)).map(({ version }) => version)
  const release = newestFirst.find((version) => asked === undefined || asked.includes(version))
  if (release === undefined) return null
  const previous = newestFirst.slice(newestFirst.indexOf(release) + 1).find((version) => isSameApp(version, release))
  return previous === undefined ? null : { release, previous }
}
