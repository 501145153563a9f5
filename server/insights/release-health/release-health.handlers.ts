import type { Handlers } from '../../platform/context/handlers.ts'
import { listReleases } from './list-releases.ts'
import { readRelease } from './read-release.ts'
import { readReleasesHealth } from './read-releases-health.ts'
import type { releaseHealthRoutes } from './release-health.api.ts'

export const releaseHealthHandlers: Handlers<typeof releaseHealthRoutes> = {
  listReleases: (app, actor, { query }) => listReleases(app, actor, query),
  readReleasesHealth: (app, actor, { query }) => readReleasesHealth(app, actor, query),
  readRelease: (app, actor, { params, query }) => readRelease(app, actor, { ...params, ...query }),
}
