import { readdirSync, readFileSync } from 'node:fs'
import { z } from 'zod'

const FOLDER = new URL('../fixtures/samples/', import.meta.url)

const Recorded = z.object({
  method: z.string(),
  url: z.string(),
  headers: z.array(z.tuple([z.string(), z.string()])),
  body_file: z.string().nullish(),
  answer_given_by_recorder: z.object({ body: z.unknown().optional() }),
})

/** A recorded request of a real SDK; its DSN is of project 4501 with {@link SAMPLE_KEY}. */
export type Sample = {
  /** Folder and base name, such as `node-11.12.0/002-main-envelope-event`. */
  readonly name: string
  readonly method: string
  /** Path and query. */
  readonly url: string
  /** Without headers of the connection. */
  readonly headers: Record<string, string>
  readonly body: Buffer
  /** The id that the recorder answered, or null. */
  readonly answeredId: string | null
}

export const SAMPLE_KEY = '0123456789abcdef0123456789abcdef'
export const SAMPLE_PROJECT = 4501

const OF_THE_CONNECTION = new Set(['host', 'connection', 'transfer-encoding', 'content-length'])

/** Recordings whose path matches, in order. */
export function readSamples(path: RegExp): Sample[] {
  const samples: Sample[] = []
  for (const folder of readdirSync(FOLDER, { withFileTypes: true })) {
    if (!folder.isDirectory() || folder.name === 'artefacts' || folder.name === 'edge-cases-handmade') continue
    for (const file of readdirSync(new URL(`${folder.name}/`, FOLDER)).sort()) {
      if (!file.endsWith('.json')) continue
      const recorded = Recorded.parse(JSON.parse(readFileSync(new URL(`${folder.name}/${file}`, FOLDER), 'utf8')))
      if (!path.test(recorded.url)) continue
      const answer = z.object({ id: z.string() }).safeParse(recorded.answer_given_by_recorder.body)
      samples.push({
        name: `${folder.name}/${file.replace('.json', '')}`,
        method: recorded.method,
        url: recorded.url,
        headers: Object.fromEntries(recorded.headers.filter(([name]) => !OF_THE_CONNECTION.has(name.toLowerCase()))),
        body:
          recorded.body_file == null
            ? Buffer.alloc(0)
            : readFileSync(new URL(`${folder.name}/${recorded.body_file}`, FOLDER)),
        answeredId: answer.success ? answer.data.id : null,
      })
    }
  }
  return samples
}

/** The 144 recordings of the envelope and store endpoints. */
export const readIntakeSamples = (): Sample[] => readSamples(/^\/api\/4501\/(?:envelope|store)\//)

const Case = z.object({
  file: z.string(),
  url: z.string(),
  headers: z.record(z.string(), z.string()),
  expect: z.object({
    status: z.number(),
    items: z.array(z.object({ type: z.string(), length: z.number().optional() })).optional(),
    answer: z.string().optional(),
  }),
})
export type EdgeCase = z.infer<typeof Case> & { readonly body: Buffer }

/** The 39 hand-made edge cases of the envelope grammar. */
export function readEdgeCases(): EdgeCase[] {
  const folder = new URL('edge-cases-handmade/', FOLDER)
  const { cases } = z
    .object({ cases: z.array(Case) })
    .parse(JSON.parse(readFileSync(new URL('cases.json', folder), 'utf8')))
  return cases.map((one) => ({ ...one, body: readFileSync(new URL(one.file, folder)) }))
}
