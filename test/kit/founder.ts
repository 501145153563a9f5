import { z } from 'zod'
import { client, type Client } from './client.ts'

const Project = z.object({ id: z.string(), number: z.number(), dsn: z.string(), slug: z.string(), name: z.string() })
export type TestProject = z.infer<typeof Project>

let founders = 0

/** Signs up a new organisation through the API and logs its owner in. */
export async function aFounder(url: string, name?: string): Promise<Client & { email: string; password: string }> {
  const one = client(url)
  const email = `founder${++founders}@example.com`
  const password = 'quartz-lantern-harbour-7'
  const signedUp = await one.post('/api/auth/signup', {
    email,
    password,
    name: name ?? `Founder ${founders}`,
    org: `Org ${founders}`,
  })
  if (signedUp.status !== 201) throw new Error(`sign-up: ${signedUp.status} ${signedUp.text}`)
  const loggedIn = await one.post('/api/auth/login', { email, password })
  if (loggedIn.status !== 200) throw new Error(`log-in: ${loggedIn.status} ${loggedIn.text}`)
  return { ...one, email, password }
}

let projects = 0

/** A project of the caller's organisation. */
export async function aProject(owner: Client, fields: Record<string, unknown> = {}): Promise<TestProject> {
  const answer = await owner.post('/api/projects', {
    name: `Shop ${++projects}`,
    platform: 'web',
    region: 'eu-central-1',
    ...fields,
  })
  if (answer.status !== 201) throw new Error(`project: ${answer.status} ${answer.text}`)
  return Project.parse(answer.body)
}
