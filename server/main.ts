import { Command, InvalidArgumentError } from 'commander'
import { auditVerifyCommand } from './cli/audit-command.ts'
import { migrateCommand } from './cli/migrate-command.ts'
import { serveCommand } from './cli/serve-command.ts'
import { ConfigError, PROCESS_ROLES, type ProcessRole } from './config.ts'
import { DatabaseStartError } from './storage/database-start-error.ts'

/** Parses arguments. The commands are in cli/. */

const program = new Command('faultline')
  .description('Self-hosted crash and performance monitoring.')
  .showHelpAfterError()
  .helpCommand(true)

program
  .command('serve', { isDefault: true })
  .description('start the embedded database (unless DATABASE_URL is set), apply migrations, serve')
  .option(
    '--roles <list>',
    `roles of this process, separated by commas: ${PROCESS_ROLES.join(', ')} (default: all)`,
    parseRoles,
  )
  .action((options: { roles?: ProcessRole[] }) => serveCommand(options.roles ?? null))

program.command('migrate').description('apply pending migrations and exit').action(migrateCommand)

program
  .command('audit')
  .description('the audit log')
  .command('verify')
  .description('verify that no entry was changed, added or removed; exit code 1 when one was')
  .option('--org <slug>', 'only this organisation')
  .action(auditVerifyCommand)

function parseRoles(text: string): ProcessRole[] {
  const roles = text.split(',').map((role) => role.trim())
  const known = roles.filter((role): role is ProcessRole => (PROCESS_ROLES as readonly string[]).includes(role))
  if (known.length !== roles.length || known.length === 0)
    throw new InvalidArgumentError(`Name one or more of ${PROCESS_ROLES.join(', ')}, separated by commas.`)
  return known
}

try {
  await program.parseAsync()
} catch (error) {
  // Errors that the operator can fix are one line. Others show their stack.
  const expected = error instanceof ConfigError || error instanceof DatabaseStartError
  console.error(expected ? `faultline: ${error.message}` : error)
  process.exit(1)
}
