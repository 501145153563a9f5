import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The commands that README.md and the pages of `docs/` show. */

export type DocumentedCommand = {
  readonly page: string
  /** As on the page: a block of shell, or the code of one span. */
  readonly text: string
  readonly isBlock: boolean
}

const root = join(import.meta.dirname, '../..')
export const GUIDE_PAGES = ['README.md', ...globSync('docs/*.md', { cwd: root }).toSorted()]

/** A span of code that begins so is a command; a word alone is a name. */
const COMMAND =
  /^(?:[A-Z_]+=\S* )*(?:npm (?:run|ci|start|test|install)\b|(?:npx|curl|psql|docker|kubectl|helm|systemctl|sentry-cli|flutter|faultline|pip|pipx|rsync|openssl|select) \S)/

/** Each command once, with the first page that shows it. */
export function documentedCommands(): DocumentedCommand[] {
  const found = new Map<string, DocumentedCommand>()
  for (const page of GUIDE_PAGES) {
    const markdown = readFileSync(join(root, page), 'utf8')
    const add = (text: string, isBlock: boolean): void => {
      if (!found.has(text)) found.set(text, { page, text, isBlock })
    }
    for (const [, text = ''] of markdown.matchAll(/^```sh\n(.*?)^```/gms)) add(text, true)
    for (const [, text = ''] of markdown.replaceAll(/^```.*?^```/gms, '').matchAll(/`([^`]+)`/g)) {
      const line = text.replaceAll(/\s+/g, ' ')
      if (COMMAND.test(line) && !/…| --$/.test(line)) add(line, false)
    }
  }
  return [...found.values()]
}

/** Blocks that are no shell and hold a command nevertheless: they need the language `sh` to be run. */
export const unmarkedCommands = (): string[] =>
  GUIDE_PAGES.flatMap((page) =>
    [...readFileSync(join(root, page), 'utf8').matchAll(/^```(?!sh\n)\w*\n(.*?)^```/gms)]
      .map(([, text = '']) => text)
      .filter((text) => /^(?:[A-Z_]+=\S* )*(?:npm|npx|curl|psql|docker|kubectl|helm) /m.test(text)),
  )

/** Commands that no test runs here, by the words they start with, and the reason. */
export const NOT_RUN: readonly { readonly starts: string; readonly reason: string }[] = [
  { starts: 'docker', reason: 'needs a container engine: npm run test:clients builds the image and runs it' },
  { starts: 'kubectl', reason: 'needs a cluster' },
  { starts: 'helm', reason: 'needs a cluster; deploy.test.ts renders the chart where helm is installed' },
  { starts: 'systemctl', reason: 'needs systemd as the first process' },
  { starts: 'useradd', reason: 'would add a user to this machine' },
  { starts: 'rsync', reason: 'needs another machine' },
  { starts: 'sentry-cli', reason: 'a program of others: npm run test:clients, upload-tools.clients.ts' },
  { starts: 'flutter', reason: 'a program of others: npm run test:clients' },
  { starts: 'pip', reason: 'installs a package: npm run test:clients' },
  { starts: 'openapi-python-client', reason: 'a program of others: npm run test:clients' },
  { starts: 'npx', reason: 'installs a package: npm run test:package, npm run test:clients' },
  { starts: 'select pg_promote()', reason: 'needs a standby: npm run torture -- standby' },
  { starts: 'faultline upload', reason: 'the name of a command; upload-command.long.test.ts' },
  { starts: 'npm ci', reason: 'installs packages; scripts.test.ts' },
  { starts: 'npm install', reason: 'installs packages; npm run test:package' },
  { starts: 'npm init', reason: 'installs packages; npm run test:package' },
  { starts: 'npm start', reason: 'start-up.test.ts' },
  { starts: 'npm test', reason: 'would run itself' },
  { starts: 'npm run test:', reason: 'runs tests' },
  { starts: 'npm run demo', reason: 'demo.test.ts' },
  { starts: 'npm run load', reason: 'loads the machine for minutes; its --help is run' },
  { starts: 'npm run package', reason: 'npm run test:package' },
  { starts: 'npm run check', reason: 'runs before every commit' },
  { starts: 'npm run notices', reason: 'writes a file of the repository; notices.test.ts' },
  { starts: 'npm run advisories', reason: 'asks a service of others; advisories.test.ts' },
  { starts: 'npm run openapi', reason: 'writes a file of the repository; npm run check' },
  { starts: 'npm run bench -- ', reason: 'measures for minutes; commands.test.ts compares name and options' },
  { starts: 'npm run torture -- ', reason: 'destroys for minutes; commands.test.ts compares name and options' },
]

/** Settings before the command do not count. */
export function notRunBecause(text: string): string | null {
  const command = text.replace(/^(?:[A-Z_]+=\S* )+/, '')
  if (/^npm run .* --help$/.test(command)) return null
  return (
    NOT_RUN.find(
      ({ starts }) =>
        command === starts || command.startsWith(starts.endsWith(' ') || starts.endsWith(':') ? starts : `${starts} `),
    )?.reason ?? null
  )
}
