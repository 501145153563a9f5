import { readFileSync } from 'node:fs'
import { z } from 'zod'

/** The version in package.json. */
export const packageVersion = (): string => manifest().version

/** The package that npm installs names another folder of data than a checkout, whose own folder it is. */
const Manifest = z.object({ version: z.string(), dataFolder: z.string().default('data') })

export const manifest = (): z.infer<typeof Manifest> =>
  Manifest.parse(JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')))

/**
 * A command for operators as they type it here: the program of the package is `faultline`.
 * @param words what follows it, such as `backup drill`
 */
export const operatorCommand = (words: string): string =>
  `${manifest().dataFolder === 'faultline-data' ? 'faultline' : 'npm run admin --'} ${words}`
