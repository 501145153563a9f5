import { writeFileSync } from 'node:fs'
import { readLockfile } from './locked-packages.ts'
import { notices } from './notices.ts'

/** `npm run notices`: writes THIRD-PARTY-NOTICES from the installed packages; `npm run check` fails while the two differ. */
const root = new URL('../', import.meta.url)
writeFileSync(new URL('THIRD-PARTY-NOTICES', root), notices(root, readLockfile(root)))
console.log('THIRD-PARTY-NOTICES written')
