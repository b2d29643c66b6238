// Moved to packages/operations. This path stays for one release. A service must not depend on a package of commands, hence
// the import that import rules do not follow.
process.argv.splice(2, 0, 'rotate-keys')
await import(import.meta.resolve('../../../packages/operations/src/main.ts'))
