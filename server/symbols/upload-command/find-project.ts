import { z } from 'zod'
import { callApi } from './call-api.ts'
import { parseAnswer, type Target } from './call-server.ts'
import { UploadError } from './plan.ts'

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/iu
const Projects = z.object({
  items: z.array(z.object({ id: z.string(), slug: z.string(), number: z.number() })),
  next_cursor: z.string().nullable(),
})
const MAX_SHOWN = 10

/**
 * The id of a project.
 * @param name its short name, its id, or its number in the DSN
 * @throws UploadError when the organisation of the API key has no such project
 */
export async function findProject(target: Target, name: string, say: (line: string) => void): Promise<string> {
  if (UUID.test(name)) return name.toLowerCase()
  const others: string[] = []
  let cursor: string | null = null
  do {
    const query = new URLSearchParams({ limit: '100', ...(cursor === null ? {} : { cursor }) })
    const answer = await callApi(target, { method: 'GET', path: `api/projects?${query.toString()}` }, say)
    const page: z.output<typeof Projects> = parseAnswer(Projects, answer, target)
    const found = page.items.find(({ slug, number }) => slug === name || String(number) === name)
    if (found !== undefined) return found.id
    others.push(...page.items.map(({ slug }) => slug))
    cursor = page.next_cursor
  } while (cursor !== null)
  const shown = [...others.slice(0, MAX_SHOWN), ...(others.length > MAX_SHOWN ? ['…'] : [])].join(', ')
  throw new UploadError(
    `The organisation of this token has no project ${name}. ${others.length === 0 ? 'Create one in the dashboard.' : `--project takes one of ${shown}.`}`,
  )
}
