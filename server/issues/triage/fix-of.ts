import type { Actor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { factContext } from '../../platform/context/fact-context.ts'
import { ensureRelease } from '../../projects/releases/ensure-release.ts'
import type { ResolutionInput } from '../rules/life-cycle.api.ts'
import { releasesOfCommit, knownReleases } from '../rows/issues.queries.ts'
import { nextAfter, type Fix } from '../rules/resolution.ts'

/**
 * The fix that a requested resolution means now. Creates releases that do not exist yet, as planned. Its own transaction
 * ends before an issue is locked, because digestion locks releases and issues, too.
 */
export async function resolveFix(app: App, actor: Actor, projectId: string, asked: ResolutionInput): Promise<Fix> {
  if (asked.in_release !== undefined) {
    const versions = [...new Set([asked.in_release].flat())]
    for (const version of versions) await app.tx((tx) => ensureRelease(tx, factContext(app, actor), projectId, version))
    return { kind: 'release', versions }
  }
  if (asked.in_commit !== undefined) {
    const versions = await releasesOfCommit(app.db, projectId, asked.in_commit)
    return versions.length === 0 ? { kind: 'commit', sha: asked.in_commit } : { kind: 'release', versions }
  }
  if (asked.in_next_release === undefined) return { kind: 'now' }
  return nextAfter(await knownReleases(app.db, projectId))
}
