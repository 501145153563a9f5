import { z } from 'zod'

const Script = z.object({
  buildWeb: z.custom<(node: string) => Promise<boolean>>((value) => typeof value === 'function'),
})

/** The same build as `npm start` makes; does nothing when the sources have not changed. */
export default async function buildDashboard(): Promise<void> {
  const path = new URL('../../scripts/build-web.mjs', import.meta.url).href
  const { buildWeb } = Script.parse(await import(path))
  if (!(await buildWeb(process.execPath))) throw new Error('The dashboard does not build.')
}
