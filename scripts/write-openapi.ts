import { writeFileSync } from 'node:fs'
import { apiSchemas } from '../server/service/api/api-schemas.ts'
import { contract } from '../server/service/api/contract.ts'
import { fieldDescriptions } from '../server/service/api/field-descriptions.ts'
import { openApiDocument } from '../server/service/http/openapi.ts'
import { packageVersion } from '../server/config/manifest.ts'
import { permissionsPage } from './permissions-page.ts'

/** `npm run openapi`: writes docs/openapi.json and docs/permissions.md from the contract; a test fails while they differ. */
const file = new URL('../docs/openapi.json', import.meta.url)
writeFileSync(
  file,
  `${JSON.stringify(openApiDocument(contract, apiSchemas, packageVersion(), fieldDescriptions), null, 2)}\n`,
)
writeFileSync(new URL('../docs/permissions.md', import.meta.url), permissionsPage(contract))
console.log('docs/openapi.json and docs/permissions.md written')
