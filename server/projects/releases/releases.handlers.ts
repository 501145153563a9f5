import type { Handlers } from '../../platform/context/handlers.ts'
import { addCommits } from './add-commits.ts'
import { invalid } from '../../platform/kernel/errors.ts'
import { createRelease } from './create-release.ts'
import { createDeploy, listDeploys } from './deploys.ts'
import { listCommits } from './list-commits.ts'
import { listMarkers } from './list-markers.ts'
import type { releaseRoutes } from './releases.api.ts'
import { updateRelease } from './update-release.ts'

export const releaseHandlers: Handlers<typeof releaseRoutes> = {
  createRelease: (app, actor, { query, body }) =>
    createRelease(app, actor, { ...body, projectId: projectOf(query.projectId, body.projectId) }),
  updateRelease: (app, actor, { params, body }) => updateRelease(app, actor, { ...params, ...body }),
  listReleaseCommits: (app, actor, { params, query }) => listCommits(app, actor, { ...params, ...query }),
  addReleaseCommits: (app, actor, { params, body }) => addCommits(app, actor, { ...params, ...body }),
  listDeploys: (app, actor, { params, query }) => listDeploys(app, actor, { ...params, ...query }),
  createDeploy: (app, actor, { params, body }) => createDeploy(app, actor, { ...params, ...body }),
  listReleaseMarkers: (app, actor, { query }) => listMarkers(app, actor, query),
}

/** The API specification has projectId in the query, clients also send it in the body. Two different ones are refused. */
function projectOf(inQuery: string | undefined, inBody: string | undefined): string {
  const projectId = inBody ?? inQuery
  if (projectId === undefined) throw invalid('projectId must be a UUID.')
  if (inQuery !== undefined && inQuery !== projectId)
    throw invalid('projectId differs between the address and the body. Send it once.')
  return projectId
}
