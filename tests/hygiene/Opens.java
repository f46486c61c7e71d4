/** As opens.c: exits with 30 where the system says that it is read-only. */
class Opens {
	public static void main(String[] args) {
		try (var out = new java.io.FileOutputStream(args[0])) {
			System.exit(0);
		} catch (java.io.IOException e) {
			System.exit(e.getMessage().contains("Read-only") ?
			    30 : 1);
		}
	}
}
