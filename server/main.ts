import { Command, InvalidArgumentError, Option } from 'commander'
import { ConfigError, PROCESS_ROLES, type ProcessRole } from './config/environment.ts'
import { DatabaseStartError } from './platform/storage/pool.ts'

/**
 * Parses arguments. The commands are in service/cli/, those of uploads in symbols/upload-command/, and each loads only its
 * own modules: all of them take a second to load.
 */

const uploads = () => import('./symbols/upload-command/upload-commands.ts')
const accounts = () => import('./service/cli/account-commands.ts')
const importCommands = () => import('./service/cli/import-command.ts')
const backups = () => import('./service/cli/backup-command.ts')
const quarantines = () => import('./service/cli/quarantine-command.ts')
const movedBodies = () => import('./service/cli/bodies-command.ts')
const run =
  <A extends readonly unknown[]>(load: () => Promise<(...args: A) => Promise<void>>) =>
  async (...args: A): Promise<void> =>
    (await load())(...args)

/** All commands. A test compares them with those that pages name. */
export const program = new Command('faultline')
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
  .action(async (options: { roles?: ProcessRole[] }) => {
    const { serveCommand } = await import('./service/cli/serve-command.ts')
    await serveCommand(options.roles ?? null)
  })

program
  .command('migrate')
  .description('apply pending migrations and exit')
  .action(run(async () => (await import('./service/cli/migrate-command.ts')).migrateCommand))

program
  .command('audit')
  .description('the audit log')
  .command('verify')
  .description('verify that no entry was changed, added or removed; exit code 1 when one was')
  .option('--org <slug>', 'only this organisation')
  .action(run(async () => (await import('./service/cli/audit-command.ts')).auditVerifyCommand))

const owner = program.command('owner').description('owners of organisations')
owner
  .command('create')
  .description('create an owner, and print a link with which a new user chooses the password')
  .requiredOption('--email <address>', 'address of the owner')
  .option('--name <name>', 'name of a new user (default: from the address)')
  .option('--org <slug>', 'an organisation that exists')
  .option('--new-org <name>', 'create an organisation')
  .action(run(async () => (await accounts()).createOwnerCommand))

const user = program.command('user').description('accounts of users')
user
  .command('reset-password')
  .description('print a link with which the user chooses a new password, or set one from standard input')
  .requiredOption('--email <address>', 'address of the user')
  .option('--stdin', 'read the new password from standard input and end all sessions')
  .action(run(async () => (await accounts()).resetPasswordCommand))
user
  .command('disable-2fa')
  .description('turn off two-factor authentication of a user who lost every code, and end all sessions')
  .requiredOption('--email <address>', 'address of the user')
  .action(run(async () => (await accounts()).disableTwoFactorCommand))
user
  .command('sessions')
  .description('list the sessions of a user')
  .requiredOption('--email <address>', 'address of the user')
  .action(run(async () => (await accounts()).listSessionsCommand))
user
  .command('end-sessions')
  .description('end all sessions of a user, or one')
  .requiredOption('--email <address>', 'address of the user')
  .option('--session <id>', 'only this session')
  .action(run(async () => (await accounts()).endSessionsCommand))

program
  .command('sso')
  .description('single sign-on')
  .command('verify-domain')
  .description('mark a domain as verified, where its DNS is not visible')
  .requiredOption('--org <slug>', 'the organisation')
  .requiredOption('--domain <domain>', 'a domain of its configuration')
  .action(run(async () => (await accounts()).verifyDomainCommand))

program
  .command('signing-keys')
  .description('keys of access tokens')
  .command('rotate')
  .description('sign with the next key, which is published already; the old one verifies for 20 more minutes')
  .action(run(async () => (await accounts()).rotateSigningKeysCommand))

program
  .command('keys')
  .description('keys of encryption at rest')
  .command('rotate')
  .description('seal every value with the first key of ENCRYPTION_KEYS, so that the others can be removed')
  .option('--data-keys', 'also replace the data key of every organisation, and seal what it sealed again')
  .action(run(async () => (await accounts()).rotateKeysCommand))

const imports = program.command('import').description('bring issues from another service, or events from files')
imports
  .command('sentry')
  .description('import projects, issues, comments, releases, members and alert rules from Sentry or GlitchTip')
  .requiredOption('--url <address>', 'address of the source, such as https://sentry.example.com')
  .requiredOption('--org <slug>', 'the organisation here')
  .option('--source-org <slug>', 'the organisation there (default: the same slug)')
  .addOption(
    new Option(
      '--token <token>',
      'token of the source; other users of this machine cannot read it in the variable, or on standard input',
    ).env('IMPORT_TOKEN'),
  )
  .action(run(async () => (await importCommands()).importSentryCommand))
imports
  .command('events <files...>')
  .description('import events with their old times: a JSON event on each line, or one envelope per file')
  .requiredOption('--org <slug>', 'the organisation')
  .requiredOption('--project <slug>', 'the project')
  .action(run(async () => (await importCommands()).importEventsCommand))

const backup = program
  .command('backup')
  .description('write a backup of the database, also while the service runs')
  .argument('[folder]', 'folder of the backups (default: BACKUP_FOLDER)')
  .option('--keep <count>', 'delete all but this many backups afterwards', parseCount)
  .action(run(async () => (await backups()).backupCommand))
backup
  .command('list')
  .description('list the backups of a folder, and whether a drill restored them')
  .argument('[folder]', 'folder of the backups (default: BACKUP_FOLDER)')
  .action(run(async () => (await backups()).listBackupsCommand))
backup
  .command('drill')
  .description('restore a backup into a scratch database and compare it; exit code 1 when it cannot be restored')
  .argument('[folder]', 'folder of the backups (default: BACKUP_FOLDER)')
  .option('--name <name>', 'the backup (default: the newest)')
  .action(run(async () => (await backups()).drillCommand))
program
  .command('restore')
  .description('restore a backup into an empty installation')
  .argument('[folder]', 'folder of the backups (default: BACKUP_FOLDER)')
  .option('--name <name>', 'the backup (default: the newest)')
  .action(run(async () => (await backups()).restoreCommand))

const quarantine = program.command('quarantine').description('requests that digestion could not process')
quarantine
  .command('list')
  .description('count them by project and reason')
  .option('--org <slug>', 'only this organisation, with --project')
  .option('--project <slug>', 'only this project of the organisation')
  .action(run(async () => (await quarantines()).listQuarantineCommand))
quarantine
  .command('retry')
  .description('digest them again, as after an upgrade that can process them')
  .argument('[ids...]', 'ids of requests, from the list', parseId)
  .option('--org <slug>', 'those of an organisation, with --project')
  .option('--project <slug>', 'those of this project of the organisation')
  .option('--all', 'those of all projects')
  .action(run(async () => (await quarantines()).retryQuarantineCommand))
quarantine
  .command('delete')
  .description('delete them; their events are lost')
  .argument('[ids...]', 'ids of requests, from the list', parseId)
  .option('--org <slug>', 'those of an organisation, with --project')
  .option('--project <slug>', 'those of this project of the organisation')
  .option('--all', 'those of all projects')
  .option('--yes', 'without it the command only says what it would delete')
  .action(run(async () => (await quarantines()).deleteQuarantineCommand))

const bodies = program.command('bodies').description('bodies of events in object storage (BLOCKS_URL)')
bodies
  .command('check')
  .description('compare the objects with what the database refers to; changes nothing')
  .action(run(async () => (await movedBodies()).checkBodiesCommand))
bodies
  .command('forget-lost')
  .description('give up objects that are lost for good, so that deletions do not wait; deletes their events')
  .option('--all', 'also when the store has none of them')
  .option('--yes', 'without it the command only says what it would do')
  .action(run(async () => (await movedBodies()).forgetLostCommand))
bodies
  .command('delete-unknown')
  .description('delete objects of more than a day that the database does not know, as after restoring a backup')
  .option('--yes', 'without it the command only says what it would do')
  .action(run(async () => (await movedBodies()).deleteUnknownCommand))

program
  .command('doctor')
  .description('check the installation and say what to do; exit code 1 when there is a problem')
  .action(run(async () => (await import('./service/cli/doctor-command.ts')).doctorCommand))

const upload = program
  .command('upload')
  .description('send source maps, mappings and debug files to a Faultline, over HTTP')
uploadKind('sourcemaps <paths...>', 'source maps, with folders searched', [
  "faultline upload sourcemaps ./dist --release shop@1.4.0 --url-prefix '~/static'",
  'faultline upload sourcemaps index.android.bundle index.android.bundle.map --release shop@1.4.0',
])
  .option('--release <name>', 'release that the app sends; not needed for maps with a debug id')
  .option('--dist <name>', 'distribution that the app sends')
  .option('--url-prefix <address>', 'address that the paths are appended to', '~')
  .action(run(async () => (await uploads()).uploadSourceMapsCommand))
uploadKind('proguard <mapping>', 'a mapping of ProGuard or R8', [
  'faultline upload proguard app/build/outputs/mapping/release/mapping.txt --release shop@1.4.0',
])
  .option('--release <name>', 'release that the app sends')
  .option('--uuid <uuid>', 'UUID that the build put into the app')
  .action(run(async () => (await uploads()).uploadMappingCommand))
uploadKind('dsym <paths...>', 'debug files of Apple platforms: .dSYM, Mach-O files, zips; folders searched', [
  'faultline upload dsym build/Shop.xcarchive/dSYMs --wait',
]).action(run(async () => (await uploads()).uploadAppleFilesCommand))
uploadKind('elf <paths...>', 'debug files of Android, Linux and Flutter: ELF and Breakpad files; folders searched', [
  'faultline upload elf app/build/intermediates/merged_native_libs',
  'faultline upload elf build/symbols',
]).action(run(async () => (await uploads()).uploadElfFilesCommand))

/** A command of uploads, with the options that all of them have. */
function uploadKind(usage: string, what: string, examples: readonly string[]): Command {
  return upload
    .command(usage)
    .description(`send ${what}`)
    .option('--url <address>', 'address of Faultline (default: FAULTLINE_URL or SENTRY_URL)')
    .option('--project <name>', 'short name or id of the project (default: FAULTLINE_PROJECT or SENTRY_PROJECT)')
    .option('--token-stdin', 'read the API key from standard input (default: FAULTLINE_TOKEN or SENTRY_AUTH_TOKEN)')
    .addOption(new Option('--token [token]').hideHelp())
    .option('--wait', 'wait until the files are indexed; exit code 1 when one cannot be used')
    .option('--timeout <seconds>', 'how long to wait at most', parseSeconds, 600)
    .option('--dry-run', 'list the files that would be sent')
    .addHelpText('after', `\nExamples:\n${examples.map((example) => `  ${example}\n`).join('')}`)
}

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,4}$/u.test(text)) throw new InvalidArgumentError('Name a number from 1.')
  return Number(text)
}

function parseId(text: string, before: readonly number[] = []): readonly number[] {
  if (!/^[1-9]\d{0,14}$/u.test(text)) throw new InvalidArgumentError('Name the number of a request, from the list.')
  return [...before, Number(text)]
}

function parseSeconds(text: string): number {
  if (!/^\d{1,6}$/u.test(text) || Number(text) === 0) throw new InvalidArgumentError('Name a number of seconds.')
  return Number(text)
}

function parseRoles(text: string): ProcessRole[] {
  const roles = text.split(',').map((role) => role.trim())
  const known = roles.filter((role): role is ProcessRole => (PROCESS_ROLES as readonly string[]).includes(role))
  if (known.length !== roles.length || known.length === 0)
    throw new InvalidArgumentError(`Name one or more of ${PROCESS_ROLES.join(', ')}, separated by commas.`)
  return known
}

if (import.meta.main) {
  try {
    await program.parseAsync()
  } catch (error) {
    // Errors that the operator can fix are one line. Others show their stack.
    const expected = error instanceof ConfigError || error instanceof DatabaseStartError
    console.error(expected ? `faultline: ${error.message}` : error)
    process.exit(1)
  }
}
