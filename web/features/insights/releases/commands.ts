/** Commands for a terminal or a pipeline, with the address and ids of this installation. Pure. */

/** `$KEY` is an API key with the scope releases:write. */
const post = (address: string, body: string): string =>
  [
    'curl --fail-with-body -sS -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\',
    `  -d '${body}' \\`,
    `  ${address}`,
  ].join('\n')

/** Leaves the quotes of the body, so that the shell fills in the commit. */
const HEAD = '\'"$(git rev-parse HEAD)"\''

export const createCommand = (origin: string, projectId: string, version: string): string =>
  post(
    `${origin}/api/releases`,
    JSON.stringify({ projectId, version, commits: [{ id: 'HEAD' }] }).replace('HEAD', HEAD),
  )

export const commitsCommand = (origin: string, releaseId: string): string =>
  post(
    `${origin}/api/releases/${releaseId}/commits`,
    JSON.stringify({ commits: [{ id: 'HEAD' }] }).replace('HEAD', HEAD),
  )

export const deployCommand = (origin: string, releaseId: string): string =>
  post(`${origin}/api/releases/${releaseId}/deploys`, JSON.stringify({ environment: 'production' }))
