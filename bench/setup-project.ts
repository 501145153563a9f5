import { z } from 'zod'

export type BenchProject = {
  readonly projectId: string
  readonly number: number
  readonly publicKey: string
  readonly cookie: string
}

/**
 * Signs up the first account of a fresh installation and creates a project, through the API.
 * @throws Error with the refusal
 */
export async function setUpProject(url: string, account: Account = ACCOUNT): Promise<BenchProject> {
  await call(url, '/api/auth/signup', { ...account, name: 'Bench', org: 'Bench' })
  const cookie = await logIn(url, account)
  return addProject(url, cookie, 'Load')
}

/** A further project of an organisation. */
export async function addProject(url: string, cookie: string, name: string): Promise<BenchProject> {
  const answer = await call(url, '/api/projects', { name, platform: 'web', region: 'eu-central-1' }, cookie)
  const project = z.object({ id: z.string(), number: z.number(), dsn: z.string() }).parse(await answer.json())
  // Loads may create more issues than an app does.
  const noBudget = { new_issues_per_hour: 0, new_issues_per_day: 0 }
  await call(url, `/api/projects/${project.id}/settings`, noBudget, cookie, 'PATCH')
  return { projectId: project.id, number: project.number, publicKey: new URL(project.dsn).username, cookie }
}

/** A project of another organisation of the same installation. */
export const setUpSecondOrg = (url: string): Promise<BenchProject> =>
  setUpProject(url, { ...ACCOUNT, email: 'other@example.com' })

type Account = { readonly email: string; readonly password: string }
export const ACCOUNT: Account = { email: 'bench@example.com', password: 'correct horse battery staple 42' }

/** Logs in to the account of {@link setUpProject}; returns the `Cookie` header. */
export async function logIn(url: string, account = ACCOUNT): Promise<string> {
  const login = await call(url, '/api/auth/login', account)
  return login.headers
    .getSetCookie()
    .map((one) => one.split(';', 1)[0])
    .join('; ')
}

async function call(url: string, path: string, body: unknown, cookie = '', method = 'POST'): Promise<Response> {
  const response = await fetch(url + path, {
    method,
    headers: { 'content-type': 'application/json', origin: url, cookie },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
  return response
}

/** One figure of `/-/metrics`, summed over its labels; 0 when it is not there. */
export async function readMetric(url: string, name: string): Promise<number> {
  return sumOfMetric(await (await fetch(`${url}/-/metrics`)).text(), name)
}

/** The same in the text of an answer. */
export function sumOfMetric(text: string, name: string): number {
  let sum = 0
  for (const line of text.split('\n')) {
    if (line.startsWith(`${name} `) || line.startsWith(`${name}{`)) sum += Number(line.slice(line.lastIndexOf(' ') + 1))
  }
  return sum
}
