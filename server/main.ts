import { Command, InvalidArgumentError } from 'commander'
import { migrateCommand } from './cli/migrate-command.ts'
import { serveCommand } from './cli/serve-command.ts'
import { ConfigError, PROCESS_ROLES, type ProcessRole } from './config.ts'
import { DatabaseStartError } from './storage/database-start-error.ts'

/** Nothing but argument parsing: each command lives in cli/. */

const program = new Command('faultline')
  .description('Self-hosted crash and performance monitoring.')
  .showHelpAfterError()
  .helpCommand(true)

program
  .command('serve', { isDefault: true })
  .description('start the database if it is ours, migrate, serve')
  .option('--roles <list>', `what this process does, of ${PROCESS_ROLES.join(', ')}; default all`, parseRoles)
  .action((options: { roles?: ProcessRole[] }) => serveCommand(options.roles ?? null))

program.command('migrate').description('bring the database up to date and exit').action(migrateCommand)

function parseRoles(text: string): ProcessRole[] {
  const roles = text.split(',').map((role) => role.trim())
  const known = roles.filter((role): role is ProcessRole => (PROCESS_ROLES as readonly string[]).includes(role))
  if (known.length !== roles.length || known.length === 0)
    throw new InvalidArgumentError(`Name some of ${PROCESS_ROLES.join(', ')}.`)
  return known
}

try {
  await program.parseAsync()
} catch (error) {
  // What an operator can act on is one line; everything else shows where it came from.
  const expected = error instanceof ConfigError || error instanceof DatabaseStartError
  console.error(expected ? `faultline: ${error.message}` : error)
  process.exit(1)
}
